import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTestKeys } from '@platform/auth/testing';
import type {} from '@platform/local/provided';
import { cloneServiceDatabase, startServiceProcess } from '@platform/service-kit/testing';
import { inject } from 'vitest';

export const root = new URL('../../..', import.meta.url).pathname;
export const serviceFolder = (name: string): string => join(root, 'services', name);

export const keys = await makeTestKeys();

export interface RunningService extends AsyncDisposable {
  place: string;
  url: string;
  pid: number;
  lines: string[];
  errors: string[];
}

/** A private key and a secret, for services that need them. */
export const secrets = async (): Promise<Record<string, string>> => {
  const { exportJWK, generateKeyPair } = await import('jose');
  const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = { ...(await exportJWK(pair.privateKey)), kid: 'test', alg: 'EdDSA' };
  return {
    AUTH_SIGNING_KEY: JSON.stringify(jwk),
    SEALING_KEY: JSON.stringify(jwk),
    SECRETS_KEY: 'a'.repeat(64),
    SUBSCRIPTIONS_KEY: 'c'.repeat(64),
    HMAC_SECRET: 'b'.repeat(64),
  };
};

/**
 * A service as a process of its own on a migrated database; `node` takes further arguments of Node.js, `by` a proxy that
 * it reaches the database by.
 */
export const startService = async (
  name: string,
  more: Record<string, string> = {},
  node: readonly string[] = [],
  by: (databaseUrl: string) => Promise<{ url: string }> = async (url) => ({ url }),
): Promise<RunningService> => {
  const stack = new AsyncDisposableStack();
  const folder = serviceFolder(name);
  const home = await mkdtemp(join(tmpdir(), `${name}-`));
  stack.defer(() => rm(home, { recursive: true }));
  const jwks = join(home, 'jwks.json');
  await writeFile(jwks, JSON.stringify(keys.jwks));
  const database = stack.use(await cloneServiceDatabase(inject('postgresUrl'), folder));
  const child = stack.use(
    await startServiceProcess({
      folder,
      nodeArguments: node,
      variables: {
        DATABASE_URL: (await by(database.url)).url,
        REDIS_URL: inject('redisUrl') ?? '',
        AUTH_JWKS: jwks,
        AUTH_ISSUER: keys.issuer,
        AUTH_AUDIENCE: keys.audience,
        SPOOL_DIR: join(home, 'spool'),
        ...(await secrets()),
        ...more,
      },
    }),
  );
  stack.defer(async () => void (await child.stop()));
  const { port, pid, lines, errors } = child;
  const place = `127.0.0.1:${port}`;
  return {
    place,
    url: `http://${place}`,
    pid,
    lines,
    errors,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};
