import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderConfig } from '@platform/gateway/config';
import { imageOptions } from '@platform/gateway/options';
import { newKey, publicKeys, signToken } from '@platform/local/keys';
import { runProgram } from '@platform/program';
import { services } from '@platform/service-list';
import type { JWK } from 'jose';
import { parse, stringify } from 'yaml';
import { secretFileOf } from './names.ts';

const root = join(import.meta.dirname, '../../..');

const usage = `prepare-compose: writes passwords, keys, database URLs, probes and the configuration of the gateway, which compose.yaml mounts
It keeps the passwords and keys that are there, and prints a token that is valid for a day.
  --out FOLDER   (infra/deploy/prepared)
  --values FILE  takes \`nginx\` from this file, as in the values of the chart`;

await runProgram(usage, async (args) => {
  const { values: asked } = parseArgs({
    args,
    options: {
      out: { type: 'string', default: join(root, 'infra/deploy/prepared') },
      values: { type: 'string' },
    },
  });
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
  for (const { name, database, secrets: randomSecrets, keys } of services) {
    const url = (role: string, password: string) =>
      `postgres://${role}:${password}@postgres:5432/${database}`;
    keep(`${name}-database-url`, () => url(database, keep(`${name}-password`, random)));
    keep(`${name}-owner-url`, () => url(`${database}_owner`, keep(`${name}-owner-password`, random)));
    for (const variable of randomSecrets) keep(secretFileOf(variable), random);
    for (const variable of keys) await keepKey(secretFileOf(variable));
  }
  const redisPassword = keep('redis-password', random);
  keep('redis-config', () => `requirepass ${redisPassword}\n`);
  keep('redis-url', () => `redis://:${redisPassword}@redis:6379`);
  keep('gateway-secret', random);
  const identity = await keepKey('identity-key');
  write(join(folder, 'jwks.json'), JSON.stringify(publicKeys(identity)));

  const { nginx = {} } = (asked.values === undefined ? {} : parse(readFileSync(asked.values, 'utf8'))) as {
    nginx?: object;
  };
  const options = imageOptions({
    services: services.map(({ name }) => name),
    ...nginx,
  });
  const gateway = join(folder, 'gateway');
  mkdirSync(gateway, { recursive: true });
  chmodSync(gateway, 0o755);
  for (const [name, text] of Object.entries(renderConfig(options))) write(join(gateway, name), text);

  const probes = [
    { targets: ['/healthz'], labels: { service: 'gateway' } },
    ...services.map(({ name, deploy }) => ({ targets: [deploy.probe], labels: { service: name } })),
  ];
  write(join(folder, 'probes.yaml'), stringify(probes));

  const scope = services.flatMap(({ scopes }) => scopes).join(' ');
  const token = await signToken(identity, { issuer: 'compose', scope, subject: 'admin', ttl: '1d' });
  process.stdout.write(`${folder} is ready. A token with every scope, for a day:\n${token}\n`);
});
