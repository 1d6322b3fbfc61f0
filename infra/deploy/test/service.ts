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
  address: string;
  url: string;
  pid: number;
  lines: string[];
  errors: string[];
}

/** Creates the keys and secrets that services need. */
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
 * Starts a service in a child process with a migrated database. `nodeArguments` are for Node.js; `proxyDatabase` returns the
 * URL of a proxy in front of the database.
 */
export const startService = async (
  name: string,
  variables: Record<string, string> = {},
  nodeArguments: readonly string[] = [],
  proxyDatabase: (databaseUrl: string) => Promise<{ url: string }> = async (url) => ({ url }),
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
      nodeArguments,
      variables: {
        DATABASE_URL: (await proxyDatabase(database.url)).url,
        REDIS_URL: inject('redisUrl') ?? '',
        AUTH_JWKS: jwks,
        AUTH_ISSUER: keys.issuer,
        AUTH_AUDIENCE: keys.audience,
        SPOOL_DIR: join(home, 'spool'),
        ...(await secrets()),
        ...variables,
      },
    }),
  );
  stack.defer(async () => void (await child.stop()));
  const { port, pid, lines, errors } = child;
  const address = `127.0.0.1:${port}`;
  return {
    address,
    url: `http://${address}`,
    pid,
    lines,
    errors,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};
