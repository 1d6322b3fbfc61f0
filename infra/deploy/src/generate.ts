/**
 * Writes the parts of this folder (or `--folder FOLDER`) that are made of services.yaml, each between two lines with its name.
 * With `--check` it writes nothing and fails when a part differs from the list.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { services } from '@platform/service-list';
import type { ListedService } from '@platform/service-list/read';
import { parseAllDocuments, stringify } from 'yaml';
import { secretFileOf, secretsOf } from './names.ts';

/** A value on one line of YAML. */
const inline = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0, singleQuote: true }).trim();

/** Lines of a map of YAML, each value on its line. Leaves out what is undefined. */
const entries = (indent: string, fields: object): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${indent}${name}: ${inline(value)}\n`)
    .join('');

const composeService = (service: ListedService): string => {
  const { name, deploy } = service;
  const { volume, settings, pool, egress, resources } = deploy;
  const environment = {
    DATABASE_POOL: pool,
    ...Object.fromEntries(
      secretsOf(service).map((variable) => [`${variable}_FILE`, `/run/secrets/${secretFileOf(variable)}`]),
    ),
    ...(volume && { [volume.variable]: volume.path }),
    ...settings.all,
    ...settings.compose,
  };
  const secrets = [
    'gateway-secret',
    'redis-url',
    `${name}-database-url`,
    ...secretsOf(service).map(secretFileOf),
  ];
  const { migrationSecrets = [] } = deploy;
  const migration = {
    environment: {
      MIGRATION_DATABASE_URL_FILE: `/run/secrets/${name}-owner-url`,
      ...Object.fromEntries(
        migrationSecrets.map((variable) => [`${variable}_FILE`, `/run/secrets/${secretFileOf(variable)}`]),
      ),
    },
    secrets: [`${name}-owner-url`, ...migrationSecrets.map(secretFileOf)],
  };
  const image = `\${REGISTRY:-platform}/${name}:\${TAG:-latest}`;
  return `  ${name}-migrate:
    <<: *migration
    image: ${image}
${entries('    ', migration)}
  ${name}:
    <<: *hardened
    image: ${image}
    build:
      { context: ../.., dockerfile: infra/deploy/Dockerfile, args: { <<: *labels, SERVICE: ${name} } }
    environment:
      <<: *settings
      DATABASE_URL_FILE: /run/secrets/${name}-database-url
${entries('      ', environment)}    secrets: ${inline(secrets)}
    volumes:
      - \${PREPARED:-./prepared}/jwks.json:/etc/platform/jwks.json:ro
${volume ? `      - ${volume.name}:${volume.path}\n` : ''}    mem_limit: ${resources.memoryLimit.replace('Mi', 'm').replace('Gi', 'g')}
    stop_grace_period: 15s
    networks: ${inline(egress ? ['inner', 'outside'] : ['inner'])}
    depends_on:
      ${name}-migrate: { condition: service_completed_successfully }
      redis: { condition: service_healthy }

`;
};

const composeSecret = (file: string): string =>
  `  ${file}: { file: '\${PREPARED:-./prepared}/secrets/${file}' }\n`;

const chartService = (service: ListedService): string => {
  const {
    replicas,
    resources,
    optionalSecrets,
    migrationSecrets,
    pool,
    connectionsBesidePool,
    ready,
    egress,
  } = service.deploy;
  const { volume: { name: _name, ...volume } = {}, settings } = service.deploy;
  const variables = { ...settings.all, ...settings.chart };
  return `  ${service.name}:\n${entries('    ', {
    replicas,
    resources,
    secrets: ['DATABASE_URL', ...secretsOf(service)],
    optionalSecrets,
    migrationSecrets,
    pool,
    connectionsBesidePool,
    ready,
    volume: service.deploy.volume && volume,
    settings: Object.keys(variables).length > 0 ? variables : undefined,
    egress,
  })}\n`;
};

/** Every Secret of a service that the chart names, without a working value. */
const exampleSecrets = (service: ListedService): string => {
  const { name, database, secrets, keys } = service;
  const url = (role: string): string => `postgres://${role}:REPLACE@postgres.example.test:5432/${database}`;
  return `---
apiVersion: v1
kind: Secret
metadata: { name: ${name}, namespace: platform }
stringData:
  DATABASE_URL: ${url(database)}
  REDIS_URL: redis://:REPLACE@redis.example.test:6379
${secrets.map((variable) => `  ${variable}: REPLACE-with-openssl-rand-hex-32\n`).join('')}${keys
    .map((variable) => `  ${variable}: REPLACE\n`)
    .join('')}---
apiVersion: v1
kind: Secret
metadata: { name: ${name}-owner, namespace: platform }
stringData:
  MIGRATION_DATABASE_URL: ${url(`${database}_owner`)}
`;
};

/** The parts, by file and name. */
const parts: Record<string, Record<string, (service: ListedService) => string>> = {
  'compose.yaml': {
    passwords: ({ name }) => `      - ${name}-password\n      - ${name}-owner-password\n`,
    'what the gateway waits for': ({ name }) => `      ${name}: { condition: service_healthy }\n`,
    services: composeService,
    secrets: (service) =>
      [
        ...['password', 'owner-password', 'database-url', 'owner-url'].map((end) => `${service.name}-${end}`),
        ...secretsOf(service).map(secretFileOf),
      ]
        .map(composeSecret)
        .join(''),
  },
  'chart/values.yaml': { services: chartService },
  'observability/alerts.yaml': {
    services: ({ name }) => `            or absent(db_up{service="${name}"})\n`,
  },
  'examples/secrets.yaml': { services: exampleSecrets },
};

/** Replaces what is between the two lines of a part. @throws when the text does not have them */
const replacePart = (text: string, name: string, content: string): string => {
  const begin = text.indexOf(`# Generated from services.yaml: ${name}\n`);
  const end = text.indexOf(`# end of ${name}\n`, begin);
  if (begin === -1 || end === -1)
    throw new Error(`"# Generated from services.yaml: ${name}" or "# end of ${name}" is missing`);
  return `${text.slice(0, text.indexOf('\n', begin) + 1)}${content.trimEnd()}\n${text.slice(text.lastIndexOf('\n', end) + 1)}`;
};

const contentOf = (text: string): unknown[] =>
  parseAllDocuments(text, { merge: true }).map((document) => document.toJS() as unknown);

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    folder: { type: 'string', default: join(import.meta.dirname, '..') },
  },
});
for (const [file, generated] of Object.entries(parts)) {
  const path = join(values.folder, file);
  const before = readFileSync(path, 'utf8');
  const after = Object.entries(generated).reduce(
    (text, [name, write]) => replacePart(text, name, services.map(write).join('')),
    before,
  );
  if (!values.check) writeFileSync(path, after);
  // As they are read: the formatter may break lines differently.
  else if (!isDeepStrictEqual(contentOf(before), contentOf(after))) {
    process.stderr.write(
      `infra/deploy/${file} differs from services.yaml. Run: npx -y pnpm@10.34.9 --filter @platform/deploy generate\n`,
    );
    process.exitCode = 1;
  }
}
