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

const usage = `prepare-compose: writes passwords, keys, database URLs, probes and the configuration of the gateway, which compose.yaml mounts
It keeps the passwords and keys that are there, and prints a token that is valid for a day.
  --out FOLDER   (infra/deploy/prepared)
  --values FILE  takes \`nginx\` from this file, as in the values of the chart
Variables, also in infra/deploy/.env:
  SERVICES=quest-service,wallet-operator  deploys these alone; compose then needs FOLDER/compose.yaml, too
  PORTAL=off|internal|public              (internal) where the portal is: nowhere, at PORTAL_PORT, everywhere`;

/** The services to deploy. @throws naming one that does not exist */
const chosenServices = (names: readonly string[] | undefined) => {
  const unknown = names?.find((name) => deployments.every((service) => service.name !== name));
  if (unknown !== undefined) throw new UsageError(`SERVICES: there is no service ${unknown}`);
  return deployments.filter(({ name }) => names?.includes(name) ?? true);
};

await runProgram(usage, async (args) => {
  const { values: asked } = parseArgs({
    args,
    options: {
      out: { type: 'string', default: join(root, 'infra/deploy/prepared') },
      values: { type: 'string' },
    },
  });
  const env = deploymentEnv();
  const deployed = chosenServices(env.services);
  const folder = asked.out;
  const secrets = join(folder, 'secrets');
  mkdirSync(secrets, { recursive: true, mode: 0o700 });
  // The users of the containers read what is mounted, whatever the umask is; only the owner can enter the folder of secrets.
  chmodSync(folder, 0o755);
  chmodSync(secrets, 0o700);

  const write = (file: string, text: string): void => {
    rmSync(file, { force: true });
    writeFileSync(file, text);
    chmodSync(file, 0o444);
  };

  const keep = (name: string, make: () => string): string => {
    const file = join(secrets, name);
    if (!existsSync(file)) write(file, make());
    return readFileSync(file, 'utf8');
  };
  const random = (): string => randomBytes(32).toString('hex');

  /** A private key, created once and kept. */
  const keepKey = async (name: string): Promise<JWK> => {
    const key = JSON.stringify(await newKey());
    return JSON.parse(keep(name, () => key)) as JWK;
  };

  keep('postgres-password', random);
  for (const service of deployments) {
    const { name, database, secrets: randomSecrets, keys } = service;
    const url = (role: string, password: string) =>
      `postgres://${role}:${password}@postgres:5432/${database}`;
    keep(`${name}-database-url`, () => url(database, keep(`${name}-password`, random)));
    keep(`${name}-owner-url`, () => url(`${database}_owner`, keep(`${name}-owner-password`, random)));
    for (const variable of randomSecrets) keep(secretFileOf(service, variable), random);
    for (const variable of keys) await keepKey(secretFileOf(service, variable));
  }
  const redisPassword = keep('redis-password', random);
  keep('redis-config', () => `requirepass ${redisPassword}\n`);
  for (const service of deployments) {
    const { redisDatabase: number } = service;
    const path = number === 0 ? '' : `/${number}`;
    keep(redisFileOf(service), () => `redis://:${redisPassword}@redis:6379${path}`);
  }
  keep('gateway-secret', random);
  const identity = await keepKey('identity-key');
  write(join(folder, 'jwks.json'), JSON.stringify(publicKeys(identity)));

  const { nginx = {} } = (asked.values === undefined ? {} : parse(readFileSync(asked.values, 'utf8'))) as {
    nginx?: object;
  };
  const options = imageOptions({
    services: deployed.map(({ name }) => name),
    ...(env.portal !== undefined && { portal: env.portal }),
    ...nginx,
  });
  // The backup writes into `metrics` when it ended (docs/backup.md).
  for (const name of ['gateway', 'metrics']) {
    mkdirSync(join(folder, name), { recursive: true });
    chmodSync(join(folder, name), 0o755);
  }
  for (const [name, text] of Object.entries(renderConfig(options)))
    write(join(folder, 'gateway', name), text);

  const probes = [
    { targets: ['/healthz'], labels: { service: 'gateway' } },
    ...deployed.map(({ name, deploy }) => ({ targets: [deploy.probe], labels: { service: name } })),
    ...(options.tls
      ? [{ targets: ['gateway:8443'], labels: { service: 'gateway', __module: 'certificate' } }]
      : []),
  ];
  write(join(folder, 'probes.yaml'), stringify(probes));
  const others = deployments.filter((service) => !deployed.includes(service));
  const containers = others.flatMap(({ name }) => [name, `${name}-migrate`]);
  const unused = containers.map((name) => [name, { profiles: ['not-deployed'] }]);
  write(join(folder, 'compose.yaml'), stringify({ services: Object.fromEntries(unused) }));

  const scope = [...new Set(deployed.flatMap(({ scopes }) => scopes))].join(' ');
  const audience = [...new Set(deployed.map(audienceOf))];
  const claims = { issuer: 'compose', audience, scope, subject: 'admin', ttl: '1d' };
  const token = await signToken(identity, claims);
  process.stdout.write(`${folder} is ready. A token with every scope, for a day:\n${token}\n`);
});
