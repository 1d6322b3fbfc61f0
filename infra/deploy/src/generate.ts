import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { runProgram } from '@platform/program';
import { deployments, tagVariable } from '@platform/service-list';
import type { ListedService } from '@platform/service-list/read';
import { parseAllDocuments, stringify } from 'yaml';
import { redisFileOf, secretFileOf, secretsOf } from './names.ts';

/** Formats a value as YAML on one line. */
const yamlLine = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0, singleQuote: true }).trim();

/** Formats the fields of a YAML map, one per line; undefined values are omitted. */
const yamlFields = (indent: string, fields: object): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${indent}${name}: ${yamlLine(value)}\n`)
    .join('');

const secretsByVariable = (service: ListedService, variables: readonly string[]): Record<string, string> =>
  Object.fromEntries(variables.map((variable) => [variable, secretFileOf(service, variable)]));

/** Returns variables that contain the paths of these secrets in a container. */
const secretPaths = (secrets: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(secrets).map(([variable, secret]) => [`${variable}_FILE`, `/run/secrets/${secret}`]),
  );

/** Variables that differ between a cell and its service. */
const cellVariables = (service: ListedService): Record<string, string> =>
  service.prefix === ''
    ? {}
    : {
        ...secretPaths({ REDIS_URL: redisFileOf(service) }),
        AUTH_AUDIENCE: `\${AUTH_AUDIENCE:-platform}${service.prefix}`,
        PUBLIC_URL: `\${PUBLIC_URL:-http://127.0.0.1:8080}${service.prefix}`,
        ...service.cellSettings,
      };

const composeService = (service: ListedService): string => {
  const { name, image: imageName, prefix, cellSettings, deploy } = service;
  const { volume, settings, migrationSecrets = [] } = deploy;
  const tag = `\${${tagVariable(imageName)}:-latest}`;
  const image = `\${REGISTRY:-platform}/${imageName}:${tag}`;
  const migrationSecretFiles = {
    MIGRATION_DATABASE_URL: `${name}-owner-url`,
    ...secretsByVariable(service, migrationSecrets),
  };
  const serviceSecretFiles = {
    DATABASE_URL: `${name}-database-url`,
    ...secretsByVariable(service, secretsOf(service)),
  };
  const migration = {
    environment: { ...secretPaths(migrationSecretFiles), ...cellSettings },
    secrets: Object.values(migrationSecretFiles),
  };
  const environment = {
    ...secretPaths(serviceSecretFiles),
    DATABASE_POOL: deploy.pool,
    ...(volume && { [volume.variable]: volume.path }),
    ...settings.all,
    ...settings.compose,
    ...cellVariables(service),
  };
  const container = {
    secrets: ['gateway-secret', redisFileOf(service), ...Object.values(serviceSecretFiles)],
    volumes: [
      '${PREPARED:-./prepared}/jwks.json:/etc/platform/jwks.json:ro',
      ...(volume ? [`${volume.name}:${volume.path}`] : []),
    ],
    mem_limit: deploy.resources.memoryLimit.replace('Mi', 'm').replace('Gi', 'g'),
    stop_grace_period: '15s',
    networks: deploy.egress ? ['inner', 'outside'] : ['inner'],
    depends_on: {
      [`${name}-migrate`]: { condition: 'service_completed_successfully' },
      redis: { condition: 'service_healthy' },
    },
  };
  // A cell uses the image that was built or pulled for its service.
  const buildOrPull =
    prefix === ''
      ? `    build:
      context: ../..
      dockerfile: infra/deploy/Dockerfile
      args: { <<: *labels, SERVICE: ${name}, VERSION: '${tag}' }
`
      : '    pull_policy: never\n';
  return `  ${name}-migrate:
    <<: *migration
    image: ${image}
${yamlFields('    ', migration)}
  ${name}:
    <<: *hardened
    image: ${image}
${buildOrPull}    environment:
      <<: *settings
${yamlFields('      ', environment)}${yamlFields('    ', container)}
`;
};

const chartService = (service: ListedService): string => {
  const { image, prefix, cellSettings } = service;
  const { volume, settings, ...deploy } = service.deploy;
  const isCell = prefix !== '';
  const PUBLIC_URL = `${settings.chart['PUBLIC_URL'] ?? EXAMPLE_URL}${prefix}`;
  const variables = { ...settings.all, ...settings.chart, ...(isCell && { PUBLIC_URL }) };
  const fields = {
    secrets: ['DATABASE_URL', ...secretsOf(service)],
    ...deploy,
    // Only compose uses the name of the volume.
    volume: volume && { ...volume, name: undefined },
    settings: Object.keys(variables).length > 0 ? variables : undefined,
    cell: isCell ? { image, prefix, settings: cellSettings } : undefined,
  };
  return `  ${service.name}:\n${yamlFields('    ', fields)}\n`;
};

/** Placeholder that the operator replaces. */
const EXAMPLE_URL = 'https://api.example.test';

/** Shape of a private Ed25519 JWK. YAML needs quotes around it: without them it would be a mapping, which a Secret rejects. */
const EXAMPLE_JWK = JSON.stringify({ crv: 'Ed25519', d: 'REPLACE', x: 'REPLACE', kty: 'OKP' });

const exampleSecret = (name: string, stringData: Record<string, string>): string =>
  `---\n${stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'platform' }, stringData })}`;

/** Renders every Secret that the chart needs for a service, with placeholder values. */
const exampleSecrets = ({ name, database, redisDatabase, secrets, keys }: ListedService): string => {
  const url = (role: string): string => `postgres://${role}:REPLACE@postgres.example.test:5432/${database}`;
  return [
    exampleSecret(name, {
      DATABASE_URL: url(database),
      REDIS_URL: `redis://:REPLACE@redis.example.test:6379${redisDatabase === 0 ? '' : `/${redisDatabase}`}`,
      ...Object.fromEntries(secrets.map((variable) => [variable, 'REPLACE-with-openssl-rand-hex-32'])),
      ...Object.fromEntries(keys.map((variable) => [variable, EXAMPLE_JWK])),
    }),
    exampleSecret(`${name}-owner`, { MIGRATION_DATABASE_URL: url(`${database}_owner`) }),
  ].join('');
};

const composeSecrets = (service: ListedService): string => {
  const { name, prefix } = service;
  const files = [
    `${name}-password`,
    `${name}-owner-password`,
    `${name}-database-url`,
    `${name}-owner-url`,
    ...secretsOf(service).map((variable) => secretFileOf(service, variable)),
  ];
  if (prefix !== '') files.push(redisFileOf(service));
  return files.map((file) => `  ${file}: { file: '\${PREPARED:-./prepared}/secrets/${file}' }\n`).join('');
};

/** Functions that render the generated sections, by file and section name. */
const sections: Record<string, Record<string, (service: ListedService) => string>> = {
  'compose.yaml': {
    passwords: ({ name }) => `      - ${name}-password\n      - ${name}-owner-password\n`,
    services: composeService,
    volumes: ({ deploy: { volume } }) => (volume ? `  ${volume.name}: {}\n` : ''),
    secrets: composeSecrets,
  },
  'chart/values.yaml': { services: chartService },
  'observability/prometheus.yaml': { services: ({ name }) => `          - ${name}\n` },
  'examples/secrets.yaml': { services: exampleSecrets },
};

/** Replaces the text between the two marker lines of a section. @throws if a marker is missing */
const replaceSection = (text: string, name: string, content: string): string => {
  const begin = text.indexOf(`# Generated from services.yaml: ${name}\n`);
  const end = text.indexOf(`# end of ${name}\n`, begin);
  if (begin === -1 || end === -1)
    throw new Error(`"# Generated from services.yaml: ${name}" or "# end of ${name}" is missing`);
  const before = text.slice(0, text.indexOf('\n', begin) + 1);
  const after = text.slice(text.lastIndexOf('\n', end) + 1);
  return `${before}${content.trimEnd()}\n${after}`;
};

const parseContent = (text: string): unknown[] =>
  parseAllDocuments(text, { merge: true }).map((document) => document.toJS() as unknown);

const usage = `generate: writes the sections of files in this folder that are generated from services.yaml
  --folder FOLDER  writes into this folder instead
  --check          writes nothing, and fails if a section differs from services.yaml`;

await runProgram(usage, (args) => {
  const { values } = parseArgs({
    args,
    options: {
      check: { type: 'boolean', default: false },
      folder: { type: 'string', default: join(import.meta.dirname, '..') },
    },
  });
  for (const [file, renderers] of Object.entries(sections)) {
    const path = join(values.folder, file);
    const current = readFileSync(path, 'utf8');
    let generated = current;
    for (const [name, render] of Object.entries(renderers))
      generated = replaceSection(generated, name, deployments.map(render).join(''));
    if (!values.check) writeFileSync(path, generated);
    // Compares the parsed content, because the formatter may break lines differently.
    else if (!isDeepStrictEqual(parseContent(current), parseContent(generated))) {
      process.stderr.write(
        `infra/deploy/${file} differs from services.yaml. Run: npx -y pnpm@10.34.9 --filter @platform/deploy generate\n`,
      );
      process.exitCode = 1;
    }
  }
});
