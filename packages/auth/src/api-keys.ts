import { createLru } from '@platform/service-kit/lru';
import { InsufficientScope, Unauthorized } from '@platform/service-kit/problem';
import { detached } from '@platform/service-kit/request-scope';
import type { Guard } from '@platform/service-kit/route';
import { hashApiKey, isApiKey } from './api-key-format.ts';
import { equal } from './equal.ts';
import { onlyHeader } from './header.ts';

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
  /** Default `X-API-Key`. */
  header?: string;
  /** Default `vk_live_`. */
  prefix?: string;
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
}

/** Short enough that a revoked or expired key is refused within a second, the query included. */
const cacheMs = 750;
const touchMs = 60_000;
const maxKeys = 5000;

/**
 * Authenticates callers by API key. A missing, malformed, unknown, revoked or expired key gets the same
 * 401, so that an answer does not show which keys existed.
 */
export const createApiKeys = <Row extends ApiKeyRow>(options: ApiKeyOptions<Row>): ApiKeys<Row> => {
  const { header = 'X-API-Key', prefix, find, touch, onTouchFailed } = options;
  const found = createLru<string, Promise<Row | undefined>>(maxKeys, cacheMs);
  // Separate from the known keys, so that a flood of unknown keys evicts none of them.
  const unknown = createLru<string, true>(maxKeys, cacheMs);
  const touched = createLru<string, true>(maxKeys, touchMs);
  const challenge = `ApiKey realm="platform", header="${header}"`;
  const refused = (unknownKey?: string) =>
    new Unauthorized('A valid API key is needed.', challenge, 'unauthorized', unknownKey);

  /** One query for all requests with this key in a short time, also when the key is unknown. */
  const lookUp = async (hash: string): Promise<Row | undefined> => {
    if (unknown.has(hash)) return undefined;
    const cached = found.get(hash);
    if (cached !== undefined) return cached;
    const query = detached(() => find(hash));
    found.set(hash, query);
    const forget = () => {
      if (found.peek(hash) === query) found.delete(hash);
    };
    const row = await query.catch((error: unknown) => {
      forget();
      throw error;
    });
    if (row !== undefined) return row;
    forget();
    unknown.set(hash, true);
    return undefined;
  };

  const recordUse = async (row: Row): Promise<void> => {
    if (touched.has(row.id)) return;
    touched.set(row.id, true);
    await touch(row).catch((error: unknown) => onTouchFailed?.(error));
  };

  const guard = (scope: string): Guard<Row> => ({
    security: [{ apiKey: [scope] }],
    schemes: { apiKey: { type: 'apiKey', in: 'header', name: header } },
    identify: async (req) => {
      const { value } = onlyHeader(req, header.toLowerCase());
      if (value === undefined || !isApiKey(value, prefix)) throw refused();
      const hash = hashApiKey(value);
      const row = await lookUp(hash);
      if (row === undefined || !equal(row.hash, hash)) throw refused(hash);
      if (!row.isValid) throw refused();
      if (!row.scopes.includes(scope)) throw new InsufficientScope(scope);
      void detached(() => recordUse(row));
      return row;
    },
    keyOf: ({ id }) => id,
  });

  return { guard };
};
