import { readFile } from 'node:fs/promises';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';
import { Unavailable } from '@platform/service-kit/problem';

export interface KeySourceOptions {
  /** URL of a JWKS (RFC 7517), path of a file that holds one, or the set itself. */
  jwks: string | JSONWebKeySet;
  /** Keys are read again after this long; 5 minutes unless said otherwise. */
  maxAgeMs?: number;
  /** At least this long between two attempts to read them; 5 seconds unless said otherwise. */
  cooldownMs?: number;
  /** Time limit for one request to the provider; 2 seconds unless said otherwise. */
  timeoutMs?: number;
}

/** Reads the keys and gives what finds one among them. */
type Load = () => Promise<JWTVerifyGetKey>;

const fromUrl = (url: URL, timeoutDuration: number): Load => {
  // When to fetch is decided below, for URLs and files alike.
  const remote = createRemoteJWKSet(url, {
    timeoutDuration,
    cooldownDuration: Infinity,
    cacheMaxAge: Infinity,
  });
  return async () => {
    await remote.reload();
    return remote;
  };
};

const fromFile =
  (path: string): Load =>
  async () =>
    createLocalJWKSet(JSON.parse(await readFile(path, 'utf8')) as JSONWebKeySet);

const loadFrom = (jwks: string | JSONWebKeySet, timeoutMs: number): Load => {
  if (typeof jwks !== 'string') return () => Promise.resolve(createLocalJWKSet(jwks));
  return /^https?:\/\//i.test(jwks) ? fromUrl(new URL(jwks), timeoutMs) : fromFile(jwks);
};

/**
 * Finds the public key of a token, and follows rotation without a restart: an unknown key id makes
 * it look again. While the keys can't be read the last ones stay in use; with none, or with a key id
 * that only the absent provider could know, it throws Unavailable `keys_unavailable`, because
 * whether the token is good is not known.
 */
export const createKeySource = ({
  jwks,
  maxAgeMs = 300_000,
  cooldownMs = 5000,
  timeoutMs = 2000,
}: KeySourceOptions): JWTVerifyGetKey => {
  const load = loadFrom(jwks, timeoutMs);
  let keys: JWTVerifyGetKey | undefined;
  let readAt = -Infinity;
  let triedAt = -Infinity;
  let failure: unknown;
  let running: Promise<void> | undefined;

  const attempt = async (): Promise<void> => {
    triedAt = performance.now();
    try {
      keys = await load();
      readAt = performance.now();
      failure = undefined;
    } catch (error) {
      failure = error;
    } finally {
      running = undefined;
    }
  };
  const refresh = async (): Promise<void> => {
    if (running === undefined && performance.now() - triedAt < cooldownMs) return;
    await (running ??= attempt());
  };
  const away = (cause: unknown) =>
    new Unavailable('keys_unavailable', 'The keys that access tokens are checked with are away.', cause);

  const find: JWTVerifyGetKey = async (header, token) => {
    if (keys === undefined) throw away(failure);
    try {
      return await keys(header, token);
    } catch (error) {
      // Anything else is a key that can't be used, which is not the caller's fault.
      throw error instanceof errors.JOSEError ? error : away(error);
    }
  };

  return async (header, token) => {
    if (performance.now() - readAt > maxAgeMs) await refresh();
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh();
      if (failure !== undefined) throw away(failure);
      return find(header, token);
    }
  };
};
