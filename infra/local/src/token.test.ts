import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { baseEnv } from './env.ts';
import { AUDIENCE, ISSUER } from './keys.ts';
import { run } from './spawn.ts';

const script = join(import.meta.dirname, 'token.ts');
let local: string;
beforeAll(async () => {
  local = await mkdtemp(join(tmpdir(), 'token-'));
});

afterAll(() => rm(local, { recursive: true, force: true }));

const token = (...args: string[]) =>
  run(process.execPath, [script, '--local', local, ...args], { env: baseEnv() });

test('prints a token with the requested scopes that can be verified with the published keys', async () => {
  const { code, stdout } = await token(
    '--scope',
    'tasks:read tasks:write',
    '--subject',
    'ann',
    '--ttl',
    '15m',
  );
  expect(code).toBe(0);
  const jwks = JSON.parse(await readFile(join(local, 'keys/jwks.json'), 'utf8')) as JSONWebKeySet;
  const checks = { issuer: ISSUER, audience: AUDIENCE, algorithms: ['EdDSA'] };
  const { payload } = await jwtVerify(stdout.trim(), createLocalJWKSet(jwks), checks);
  expect(payload).toMatchObject({ scope: 'tasks:read tasks:write', sub: 'ann' });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(900);
});

test('later calls use the same private key, only its owner can read it, and it is not published', async () => {
  await token('--scope', 'a');
  const file = join(local, 'keys/platform.json');
  const before = await readFile(file, 'utf8');
  await token('--scope', 'b');
  expect(await readFile(file, 'utf8')).toBe(before);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(join(local, 'keys/jwks.json'), 'utf8')).not.toContain('"d"');
});

test.each([
  [[], '--scope is missing'],
  [['--scope', 'a', '--ttl', 'soon'], '--ttl must be like 15m, 12h or 30d, not "soon"'],
  [['--scope', 'a', '--colour', 'red'], "Unknown option '--colour'"],
])('the arguments %j are rejected with the reason in one line', async (args, reason) => {
  const { code, output } = await token(...args);
  expect(code).toBe(2);
  expect(output).toContain(reason);
  expect(output).toMatch(/^.+\n$/);
});
