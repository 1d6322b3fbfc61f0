import { createLru } from '@platform/service-kit/lru';
import { InsufficientScope, Unauthorized } from '@platform/service-kit/problem';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import type { Guard, LookupLimit } from '@platform/service-kit/route';
import { hashApiKey, isApiKey } from './api-key-format.ts';
import { onlyHeader } from './header.ts';
import { createLookupCache } from './lookup-cache.ts';

export { hashApiKey, isApiKey, makeApiKey, type NewApiKey } from './api-key-format.ts';

/** The stored columns of a key that are needed here. */
export interface ApiKeyRow {
  id: string;
  /** From `makeApiKey`. */
  hash: string;
  scopes: readonly string[];
  /** Neither revoked nor expired, by the clock of the database. */
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

export interface ApiKeys<Row> {
  /** Admits keys with this scope. */
  guard: (scope: string) => Guard<Row>;
  /** Forgets what this process knows of a key. Call it when its record has changed. */
  forget: (hash: string) => void;
}

/** Short enough that a revoked or expired key is refused within a second, the query included. */
const answerMs = 750;
const touchMs = 60_000;
/** How long a key counts as accepted. */
const rememberMs = 60_000;
const maxKeys = 5000;

const challenge = 'ApiKey realm="platform", header="X-API-Key"';

/**
 * Authenticates callers by API key. A missing, malformed, unknown, revoked or expired key gets the same
 * 401, so that an answer does not show which keys existed.
 */
export const createApiKeys = <Row extends ApiKeyRow>(options: ApiKeyOptions<Row>): ApiKeys<Row> => {
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

  /** Throws Unauthorized, and TooManyRequests instead of a look-up for a network with too many unknown keys. */
  const authenticate = async (hash: string, limit: LookupLimit): Promise<Row> => {
    const known = keys.refusal(hash);
    if (known === undefined && !keys.valid.has(hash)) limit.unproven('api_key');
    const found = known ?? (await keys.lookUp(hash));
    if (found.state === 'valid') return found.row;
    throw refusalOf(found.state === 'unknown' ? hash : undefined);
  };

  const recordUse = async (row: Row): Promise<void> => {
    if (touched.has(row.id)) return;
    touched.set(row.id, true);
    await touch(row).catch((error: unknown) => onTouchFailed?.(error));
  };

  const guard = (scope: string): Guard<Row> => ({
    security: [{ apiKey: [scope] }],
    schemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    identify: async (req, limit) => {
      const { value } = onlyHeader(req, 'x-api-key');
      if (value === undefined || !isApiKey(value)) throw refusalOf();
      const row = await authenticate(hashApiKey(value), limit);
      if (!row.scopes.includes(scope)) throw new InsufficientScope(scope);
      void runOutsideRequest(() => recordUse(row));
      return row;
    },
    keyOf: ({ id }) => id,
  });

  return { guard, forget: keys.forget };
};
