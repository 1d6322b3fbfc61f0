import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderConfig } from '@platform/gateway/config';
import { imageOptions } from '@platform/gateway/options';
import { audienceOf, newKey, publicKeys, signToken } from '@platform/local/keys';
import { runProgram, UsageError } from '@platform/program';
import { deployments } from '@platform/service-list';
import type { JWK } from 'jose';
import { parse, stringify } from 'yaml';
import { deploymentEnv } from './env.ts';
import { redisFileOf, secretFileOf } from './names.ts';

const root = join(import.meta.dirname, '../../..');

const usage = `prepare-compose: writes the files that compose.yaml mounts: passwords, keys, database URLs, probes and the configuration of the gateway
It keeps existing passwords and keys, and prints a token that is valid for a day.
  --out FOLDER   the folder to write (infra/deploy/prepared)
  --values FILE  reads \`nginx\` from this file, which has the format of the chart's values
Variables, also in infra/deploy/.env:
  SERVICES=quest-service,wallet-operator  deploys only these; compose then also needs FOLDER/compose.yaml
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

await runProgram(usage, async (args) => {
  const { values: options } = parseArgs({
    args,
    options: {
      out: { type: 'string', default: join(root, 'infra/deploy/prepared') },
      values: { type: 'string' },
    },
  });
  const env = deploymentEnv();
  const deployed = selectServices(env.services);
  const folder = options.out;
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

  const { nginx = {} } = (
    options.values === undefined ? {} : parse(readFileSync(options.values, 'utf8'))
  ) as {
    nginx?: object;
  };
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
  for (const [name, text] of Object.entries(renderConfig(gatewayOptions)))
    write(join(folder, 'gateway', name), text);

  const probes = [
    { targets: ['/healthz'], labels: { service: 'gateway' } },
    ...deployed.map(({ name, deploy }) => ({ targets: [deploy.probe], labels: { service: name } })),
    ...(gatewayOptions.tls
      ? [{ targets: ['gateway:8443'], labels: { service: 'gateway', __module: 'certificate' } }]
      : []),
  ];
  write(join(folder, 'probes.yaml'), stringify(probes));
  const notDeployed = deployments.filter((service) => !deployed.includes(service));
  const containers = notDeployed.flatMap(({ name }) => [name, `${name}-migrate`]);
  const unused = containers.map((name) => [name, { profiles: ['not-deployed'] }]);
  write(join(folder, 'compose.yaml'), stringify({ services: Object.fromEntries(unused) }));

  const scope = [...new Set(deployed.flatMap(({ scopes }) => scopes))].join(' ');
  const audience = [...new Set(deployed.map(audienceOf))];
  const claims = { issuer: 'compose', audience, scope, subject: 'admin', ttl: '1d' };
  const token = await signToken(identity, claims);
  process.stdout.write(`${folder} is ready. A token with every scope, valid for a day:\n${token}\n`);
});
