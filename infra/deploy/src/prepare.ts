import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderConfig } from '@platform/gateway/config';
import { imageOptions } from '@platform/gateway/options';
import { audienceOf, newKey, publicKeys, signToken } from '@platform/local/keys';
import { runProgram, UsageError } from '@platform/program';
import { deployments } from '@platform/service-list';
import type { JWK } from 'jose';
import { parse, stringify } from 'yaml';
import { deploymentEnv, nameComposeFiles } from './env.ts';
import { redisFileOf, secretFileOf } from './names.ts';

const root = join(import.meta.dirname, '../../..');

const usage = `prepare-compose: writes the files that compose.yaml mounts: passwords, keys, database URLs, probes and the configuration of the gateway
It keeps existing passwords and keys, reads FOLDER/values.yaml, and prints what it configured and a token that is valid for a day.
  --out FOLDER  the folder to write (infra/deploy/prepared); compose then needs PREPARED and COMPOSE_FILE
Variables, also in infra/deploy/.env:
  SERVICES=quest-service,wallet-operator  deploys only these
  PORTAL=off|internal|public              (internal) no portal, only at PORTAL_PORT, or at all ports`;

/** Returns the services to deploy. @throws with the name of an unknown service */
const selectServices = (names: readonly string[] | undefined) => {
  const unknown = names?.find((name) => deployments.every((service) => service.name !== name));
  if (unknown !== undefined) {
    const names = deployments.map(({ name }) => name).join(', ');
    throw new UsageError(`SERVICES: there is no service ${unknown}; the services are ${names}`);
  }
  return deployments.filter(({ name }) => names?.includes(name) ?? true);
};

interface Values {
  /** Options of the gateway, as in the chart's values. */
  nginx?: object;
  /** A receiver of Alertmanager, without its name: `webhook_configs`, `email_configs`, … */
  alerts?: object;
}

/** Reads the settings of the operator, which may contain a password. @throws with the names of unknown settings */
const readValues = (file: string): Values => {
  if (!existsSync(file)) return {};
  chmodSync(file, 0o600);
  const values = (parse(readFileSync(file, 'utf8')) ?? {}) as Values;
  const unknown = Object.keys(values).filter((name) => !['nginx', 'alerts'].includes(name));
  if (unknown.length > 0)
    throw new UsageError(`${file}: unknown ${unknown.join(', ')}; it has nginx and alerts`);
  return values;
};

/** Configuration of an Alertmanager with one receiver. It collects the alerts of a minute in one message. */
const alertmanagerConfig = (receiver: object) => ({
  route: {
    receiver: 'operator',
    group_by: ['alertname'],
    group_wait: '10s',
    group_interval: '1m',
    repeat_interval: '4h',
  },
  receivers: [{ name: 'operator', ...receiver }],
});

/** What TLS adds to the container of the gateway. Its networks have no IPv6, so all IPv6 clients would share one address. */
const tlsContainer = {
  // tls.crt and tls.key, readable by the user 101.
  volumes: ['${TLS_FOLDER:?must be the folder of tls.crt and tls.key}:/etc/gateway-tls:ro'],
  ports: ['0.0.0.0:${HTTP_PORT:-80}:8080', '0.0.0.0:${HTTPS_PORT:-443}:8443'],
};

/** A label with the checksum of mounted files: `docker compose up` recreates the container when they have changed. */
const configurationLabel = (files: unknown) => ({
  labels: { 'platform.configuration': createHash('sha256').update(JSON.stringify(files)).digest('hex') },
});

await runProgram(usage, async (args) => {
  const { values: options } = parseArgs({
    args,
    options: {
      out: { type: 'string' },
    },
  });
  const env = deploymentEnv();
  const deployed = selectServices(env.services);
  const folder = options.out ?? join(root, 'infra/deploy/prepared');
  if (options.out === undefined) nameComposeFiles();
  const secrets = join(folder, 'secrets');
  mkdirSync(secrets, { recursive: true, mode: 0o700 });
  // Users in the containers must be able to read the mounted files under any umask; only the owner can enter the folder of secrets.
  chmodSync(folder, 0o755);
  chmodSync(secrets, 0o700);

  const write = (file: string, text: string): void => {
    rmSync(file, { force: true });
    writeFileSync(file, text);
    chmodSync(file, 0o444);
  };

  /** Returns a stored secret; creates it if it is missing. */
  const storedSecret = (name: string, create: () => string): string => {
    const file = join(secrets, name);
    if (!existsSync(file)) write(file, create());
    return readFileSync(file, 'utf8');
  };
  const random = (): string => randomBytes(32).toString('hex');

  /** Returns a stored private key; creates it if it is missing. */
  const storedKey = async (name: string): Promise<JWK> => {
    const key = JSON.stringify(await newKey());
    return JSON.parse(storedSecret(name, () => key)) as JWK;
  };

  storedSecret('postgres-password', random);
  for (const service of deployments) {
    const { name, database, secrets: randomSecrets, keys } = service;
    const url = (role: string, password: string) =>
      `postgres://${role}:${password}@postgres:5432/${database}`;
    storedSecret(`${name}-database-url`, () => url(database, storedSecret(`${name}-password`, random)));
    storedSecret(`${name}-owner-url`, () =>
      url(`${database}_owner`, storedSecret(`${name}-owner-password`, random)),
    );
    for (const variable of randomSecrets) storedSecret(secretFileOf(service, variable), random);
    for (const variable of keys) await storedKey(secretFileOf(service, variable));
  }
  const redisPassword = storedSecret('redis-password', random);
  storedSecret('redis-config', () => `requirepass ${redisPassword}\n`);
  for (const service of deployments) {
    const { redisDatabase } = service;
    const path = redisDatabase === 0 ? '' : `/${redisDatabase}`;
    storedSecret(redisFileOf(service), () => `redis://:${redisPassword}@redis:6379${path}`);
  }
  storedSecret('gateway-secret', random);
  const identity = await storedKey('identity-key');
  write(join(folder, 'jwks.json'), JSON.stringify(publicKeys(identity)));

  const { nginx = {}, alerts = {} } = readValues(join(folder, 'values.yaml'));
  const alertmanager = alertmanagerConfig(alerts);
  write(join(secrets, 'alertmanager.yaml'), stringify(alertmanager));
  const gatewayOptions = imageOptions({
    services: deployed.map(({ name }) => name),
    ...(env.portal !== undefined && { portal: env.portal }),
    ...nginx,
  });
  // backup.sh writes into `metrics` when it ends (docs/backup.md).
  for (const name of ['gateway', 'metrics']) {
    mkdirSync(join(folder, name), { recursive: true });
    chmodSync(join(folder, name), 0o755);
  }
  const gatewayFiles = Object.entries(renderConfig(gatewayOptions));
  for (const [name, text] of gatewayFiles) write(join(folder, 'gateway', name), text);

  const probes = [
    { targets: ['/healthz'], labels: { service: 'gateway' } },
    ...deployed.map(({ name, deploy }) => ({ targets: [deploy.probe], labels: { service: name } })),
    ...(gatewayOptions.tls
      ? [{ targets: ['gateway:8443'], labels: { service: 'gateway', __module: 'certificate' } }]
      : []),
  ];
  write(join(folder, 'probes.yaml'), stringify(probes));
  const observability = join(root, 'infra/deploy/observability');
  const rules = readdirSync(observability).map((name) => readFileSync(join(observability, name), 'utf8'));
  const notDeployed = deployments.filter((service) => !deployed.includes(service));
  const unused = notDeployed
    .flatMap(({ name }) => [name, `${name}-migrate`])
    .map((name) => [name, { profiles: ['not-deployed'] }]);
  const override = {
    services: {
      ...Object.fromEntries(unused),
      gateway: { ...configurationLabel(gatewayFiles), ...(gatewayOptions.tls && tlsContainer) },
      prometheus: configurationLabel([probes, ...rules]),
      alertmanager: configurationLabel(alertmanager),
    },
  };
  write(join(folder, 'compose.yaml'), stringify(override));

  const scope = [...new Set(deployed.flatMap(({ scopes }) => scopes))].join(' ');
  const audience = [...new Set(deployed.map(audienceOf))];
  const claims = { issuer: 'compose', audience, scope, subject: 'admin', ttl: '1d' };
  const token = await signToken(identity, claims);
  const { tls, portal = 'off' } = gatewayOptions;
  process.stdout.write(`${folder} is ready.
Services: ${deployed.map(({ name }) => name).join(', ')}
Portal: ${portal}
TLS: ${tls ? `redirects to ${tls.redirectTo}` : 'none'}
Receiver of alerts: ${Object.keys(alerts).join(', ') || 'none'}
A token with every scope, valid for a day:
${token}
`);
});
