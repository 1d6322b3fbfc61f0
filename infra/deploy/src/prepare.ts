import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose';
import { parseArgs } from 'node:util';
import { gatewayConfig } from './kubernetes/gateway.ts';
import { readServices, root } from './values.ts';

const { values: asked } = parseArgs({ options: { traces: { type: 'boolean', default: false } } });

/**
 * Writes what compose.yaml mounts into `prepared/`: passwords, keys and database URLs, which are created once and kept,
 * and the gateway's configuration (`--traces`: with spans, for the profile of that name). It also creates a key in place
 * of an identity provider, and a token that is valid for a day.
 */
const folder = join(root, 'infra/deploy/prepared');
const secrets = join(folder, 'secrets');
mkdirSync(secrets, { recursive: true, mode: 0o700 });

/** Readable for the users of the containers; only the owner can enter the folder. */
const keep = (name: string, make: () => string): string => {
  const file = join(secrets, name);
  if (!existsSync(file)) writeFileSync(file, make(), { mode: 0o444 });
  return readFileSync(file, 'utf8');
};
const random = (): string => randomBytes(32).toString('hex');

const newKey = async (): Promise<string> => {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  return JSON.stringify({
    ...(await exportJWK(privateKey)),
    kid: random().slice(0, 16),
    alg: 'EdDSA',
    use: 'sig',
  });
};

keep('postgres-password', random);
const services = readServices();
for (const service of services) {
  const name = service.name.replaceAll('-', '_');
  const url = (role: string, password: string) => `postgres://${role}:${password}@postgres:5432/${name}`;
  keep(`${service.name}-database-url`, () => url(name, keep(`${service.name}-password`, random)));
  keep(`${service.name}-owner-url`, () =>
    url(`${name}_owner`, keep(`${service.name}-owner-password`, random)),
  );
}
const redisPassword = keep('redis-password', random);
keep('redis-config', () => `requirepass ${redisPassword}\n`);
keep('redis-url', () => `redis://:${redisPassword}@redis:6379`);
keep('gateway-secret', random);
keep('hmac-secret', random);
keep('secrets-key', random);
const signingKey = await newKey();
keep('signing-key', () => signingKey);
const identityKey = await newKey();
const identity = JSON.parse(keep('identity-key', () => identityKey)) as JWK;
const { d: _private, ...publicKey } = identity;
writeFileSync(join(folder, 'jwks.json'), JSON.stringify({ keys: [publicKey] }));

mkdirSync(join(folder, 'gateway'), { recursive: true });
for (const [name, text] of Object.entries(gatewayConfig(services, [], asked.traces)))
  writeFileSync(join(folder, 'gateway', name), text);

const scopes = services.flatMap(({ scopes: known }) => known);
const token = await new SignJWT({ scope: scopes.join(' ') })
  .setProtectedHeader({ alg: 'EdDSA', kid: String(identity.kid), typ: 'JWT' })
  .setIssuer('compose')
  .setAudience('platform')
  .setSubject('admin')
  .setIssuedAt()
  .setNotBefore('0s')
  .setExpirationTime('1d')
  .sign(await importJWK(identity, 'EdDSA'));
process.stdout.write(`${folder} is ready. A token with every scope, for a day:\n${token}\n`);
