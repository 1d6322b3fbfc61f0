import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { makeTestKeys } from '@platform/auth/testing';
import type {} from '@platform/local/provided';
import { cloneDatabase } from '@platform/service-kit/testing';
import { exportJWK, generateKeyPair } from 'jose';
import { inject } from 'vitest';

const portOf = async (child: ChildProcess): Promise<number> => {
  if (child.stdout === null) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, port } = JSON.parse(line) as { msg: string; port?: number };
    if (msg === 'listening' && port !== undefined) return port;
  }
  throw new Error('the service ended before it listened');
};

/** Runs services as processes, each with a database of its own, until disposal. */
export const startServices = async () => {
  const stack = new AsyncDisposableStack();
  const keys = await makeTestKeys();
  const folder = await mkdtemp(join(tmpdir(), 'client-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const jwks = join(folder, 'jwks.json');
  await writeFile(jwks, JSON.stringify(keys.jwks));
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const signingKey = JSON.stringify({ ...(await exportJWK(privateKey)), alg: 'EdDSA' });

  /** Starts a service and returns its address. */
  const start = async (name: string): Promise<string> => {
    const cwd = resolve(import.meta.dirname, '../../../services', name);
    const database = stack.use(await cloneDatabase(inject('postgresUrl'), join(cwd, 'migrations')));
    const env = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: database.url,
      REDIS_URL: inject('redisUrl') ?? '',
      AUTH_JWKS: jwks,
      AUTH_ISSUER: keys.issuer,
      AUTH_AUDIENCE: keys.audience,
      AUTH_SIGNING_KEY: signingKey,
      HMAC_SECRET: 'a secret for tests',
    };
    const child = spawn(process.execPath, ['src/main.ts'], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    stack.defer(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    const port = await portOf(child);
    child.stdout.resume();
    return `http://127.0.0.1:${port}`;
  };
  return { start, keys, secret: 'a secret for tests', [Symbol.asyncDispose]: () => stack.disposeAsync() };
};
