import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { createLru } from '@platform/service-kit/lru';
import { InsufficientScope, Unauthorized } from '@platform/service-kit/problem';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import type { Guard, LookupLimit } from '@platform/service-kit/route';
import { singleHeader } from './header.ts';
import { createLookupCache } from './lookup-cache.ts';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A number in base 62, padded with zeros to `length` digits. Throws RangeError when it needs more. */
export const base62 = (value: bigint, length: number): string => {
  let text = '';
  let remaining = value;
  for (let at = 0; at < length; at += 1) {
    text = `${digits[Number(remaining % 62n)]}${text}`;
    remaining /= 62n;
  }
  if (remaining !== 0n) throw new RangeError(`The number needs more than ${length} base-62 digits.`);
  return text;
};

/** 32 base62 digits hold 190 bits; 6 hold a CRC32. */
const randomDigits = 32;
const checksumDigits = 6;
const onlyDigits = /^[0-9A-Za-z]*$/;

export interface NewApiKey {
  /** Shown to its owner once and never stored. */
  key: string;
  /** SHA-256 in hex, which is stored. */
  hash: string;
  /** First and last characters, to tell keys apart: `vk_live_3fZ…9aQx`. */
  display: string;
}

/** SHA-256 in hex. A fast hash is enough, because a key has too many random bits to be guessed. */
export const hashApiKey = (key: string): string => hash('sha256', key);

const checksumOf = (text: string): string => base62(BigInt(crc32(text)), checksumDigits);

/** Makes a key: prefix, 190 random bits in base62, then the CRC32 of both in base62. */
export const makeApiKey = (prefix = 'vk_live_'): NewApiKey => {
  const random = Array.from({ length: randomDigits }, () => digits[randomInt(62)]);
  const start = prefix + random.join('');
  const key = start + checksumOf(start);
  return { key, hash: hashApiKey(key), display: `${key.slice(0, prefix.length + 3)}…${key.slice(-4)}` };
};

/** Whether prefix, length, characters and checksum are those of a key; checked before any query. */
export const isApiKey = (text: string, prefix = 'vk_live_'): boolean =>
  text.startsWith(prefix) &&
  text.length === prefix.length + randomDigits + checksumDigits &&
  onlyDigits.test(text.slice(prefix.length)) &&
  text.endsWith(checksumOf(text.slice(0, -checksumDigits)));

/** The stored columns of a key that are needed here. */
export interface ApiKeyRow {
  id: string;
  /** From `makeApiKey`. */
  hash: string;
  scopes: readonly string[];
  /** Neither revoked nor expired, according to the clock of the database. */
  isValid: boolean;
}

export interface ApiKeyOptions<Row extends ApiKeyRow> {
  /** Looks a key up by its hash. */
  find: (hash: string) => Promise<Row | undefined>;
  /** Stores when a key was last used. Called at most once a minute for each key in each process. */
  touch: (row: Row) => Promise<void>;
  /** Called when `touch` fails; the request continues. */
  onTouchFailed?: (error: unknown) => void;
}

/** Short enough that a revoked or expired key is refused within a second, the query included. */
const answerMs = 750;
const touchMs = 60_000;
/** A key that was accepted within this time does not count as a guess. */
const rememberMs = 60_000;
const maxKeys = 5000;

const challenge = 'ApiKey realm="platform", header="X-API-Key"';

/**
 * Authenticates callers by API key. A missing, malformed, unknown, revoked or expired key gets the same
 * 401, so that an answer does not show which keys existed.
 */
export const createApiKeys = <Row extends ApiKeyRow>(options: ApiKeyOptions<Row>) => {
  const { find, touch, onTouchFailed } = options;
  const keys = createLookupCache<Row>({
    find,
    hashOf: (row) => row.hash,
    isValid: (row) => row.isValid,
    maxCredentials: maxKeys,
    answerMs,
    rememberMs,
  });
  const touched = createLru<string, true>(maxKeys, touchMs);
  const refusalOf = (unknownKey?: string) =>
    new Unauthorized(
      'A valid API key is needed.',
      challenge,
      'unauthorized',
      unknownKey === undefined ? undefined : { kind: 'api_key', hash: unknownKey },
    );

  /** Throws Unauthorized for an invalid key, and TooManyRequests if its network has sent too many unknown keys. */
  const authenticate = async (hash: string, limit: LookupLimit): Promise<Row> => {
    const refusal = keys.refusal(hash);
    if (refusal === undefined && !keys.valid.has(hash)) limit.checkGuesses('api_key');
    const lookup = refusal ?? (await keys.lookUp(hash));
    if (lookup.state === 'valid') return lookup.row;
    throw refusalOf(lookup.state === 'unknown' ? hash : undefined);
  };

  const recordUse = async (row: Row): Promise<void> => {
    if (touched.has(row.id)) return;
    touched.set(row.id, true);
    await touch(row).catch((error: unknown) => onTouchFailed?.(error));
  };

  /** Admits keys with this scope. */
  const guard = (scope: string): Guard<Row> => ({
    security: [{ apiKey: [scope] }],
    schemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    identify: async (req, limit) => {
      const { value } = singleHeader(req, 'x-api-key');
      if (value === undefined || !isApiKey(value)) throw refusalOf();
      const row = await authenticate(hashApiKey(value), limit);
      if (!row.scopes.includes(scope)) throw new InsufficientScope(scope);
      void runOutsideRequest(() => recordUse(row));
      return row;
    },
    keyOf: ({ id }) => id,
  });

  return {
    guard,
    /** Drops everything that this process has cached about a key. Call it when its record has changed. */
    forget: keys.forget,
  };
};
