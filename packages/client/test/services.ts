import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeTestKeys } from '@platform/auth/testing';
import type {} from '@platform/local/provided';
import { cloneServiceDatabase, startServiceProcess } from '@platform/service-kit/testing';
import { exportJWK, generateKeyPair } from 'jose';
import { inject } from 'vitest';

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
    const database = stack.use(await cloneServiceDatabase(inject('postgresUrl'), cwd));
    const variables = {
      DATABASE_URL: database.url,
      REDIS_URL: inject('redisUrl') ?? '',
      AUTH_JWKS: jwks,
      AUTH_ISSUER: keys.issuer,
      SUBSCRIPTIONS_KEY: 'ab'.repeat(32),
      AUTH_AUDIENCE: keys.audience,
      AUTH_SIGNING_KEY: signingKey,
      HMAC_SECRET: 'a secret for tests',
    };
    return stack.use(await startServiceProcess({ folder: cwd, variables })).url;
  };
  return { start, keys, secret: 'a secret for tests', [Symbol.asyncDispose]: () => stack.disposeAsync() };
};
