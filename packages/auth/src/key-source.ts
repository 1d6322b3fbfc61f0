import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';
import { Unavailable } from '@platform/service-kit/problem';

export interface KeySourceOptions {
  /** URL of a JWKS (RFC 7517), path of a file that holds one, or the set itself. */
  jwks: string | JSONWebKeySet;
  /** Keys are read again after this long; default 5 minutes. */
  maxAgeMs?: number;
  /** Minimum time between two attempts to read them; default 5 seconds. */
  cooldownMs?: number;
  /** Time limit of one request; default 2 seconds. */
  timeoutMs?: number;
}

const unavailable = (cause: unknown) =>
  new Unavailable('keys_unavailable', 'The keys that verify access tokens are unavailable.', cause);

/** Opens a URL or file as a key set of jose, which never reads it by itself: jose would make callers wait. */
const openSet = (jwks: string, timeoutDuration: number) => {
  const options = { timeoutDuration, cooldownDuration: Infinity, cacheMaxAge: Infinity };
  if (/^https?:\/\//i.test(jwks)) return createRemoteJWKSet(new URL(jwks), options);
  const read = async () => new Response(await readFile(jwks, 'utf8'));
  return createRemoteJWKSet(pathToFileURL(jwks), { ...options, [customFetch]: read });
};

/**
 * Finds the public key of a token and follows key rotation without a restart: old keys are read again
 * in the background, and an unknown key id makes its caller wait for a new attempt. While the keys
 * can't be read, the last ones stay in use. Without any, or for an unknown key id, it throws
 * Unavailable `keys_unavailable`, because the token may be valid.
 */
export const createKeySource = ({
  jwks,
  maxAgeMs = 300_000,
  cooldownMs = 5000,
  timeoutMs = 2000,
}: KeySourceOptions): JWTVerifyGetKey => {
  if (typeof jwks !== 'string') return createLocalJWKSet(jwks);
  let opened: ReturnType<typeof openSet> | undefined;
  // Created at the first token, because it loads Node's fetch (3 MB).
  const keySet = () => (opened ??= openSet(jwks, timeoutMs));
  let readAt: number | undefined;
  let triedAt = -Infinity;
  let failure: unknown;

  /** Reads the keys, or joins the attempt that is running. Never rejects; sets `failure`. */
  const refresh = async (): Promise<void> => {
    const keys = keySet();
    if (!keys.reloading) {
      if (performance.now() - triedAt < cooldownMs) return;
      triedAt = performance.now();
    }
    try {
      await keys.reload();
      readAt = performance.now();
      failure = undefined;
    } catch (error) {
      failure = error;
    }
  };

  const find: JWTVerifyGetKey = async (header, token) => {
    try {
      return await keySet()(header, token);
    } catch (error) {
      // Any other error means that a published key is unusable, which is not the caller's fault.
      throw error instanceof errors.JOSEError ? error : unavailable(error);
    }
  };

  return async (header, token) => {
    if (readAt === undefined) await refresh();
    else if (performance.now() - readAt > maxAgeMs) void refresh();
    if (readAt === undefined) throw unavailable(failure);
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh();
      if (failure !== undefined) throw unavailable(failure);
      return find(header, token);
    }
  };
};
