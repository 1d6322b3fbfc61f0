import { LRUCache } from 'lru-cache';
import { InsufficientScope, Unauthorized } from '@platform/service-kit/problem';
import type { Guard } from '@platform/service-kit/route';
import { hashApiKey, isApiKey } from './api-key-format.ts';
import { equal } from './equal.ts';
import { onlyHeader } from './header.ts';

export { hashApiKey, isApiKey, makeApiKey, type NewApiKey } from './api-key-format.ts';

/** What a service stores of a key, as far as it matters here. */
export interface ApiKeyRow {
  id: string;
  /** As `makeApiKey` gave it. */
  hash: string;
  scopes: readonly string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
}

export interface ApiKeyOptions<Row extends ApiKeyRow> {
  /** `X-API-Key` unless said otherwise. */
  header?: string;
  /** `vk_live_` unless said otherwise. */
  prefix?: string;
  /** Looks a key up by its hash; revoked and expired ones may be given too. */
  find: (hash: string) => Promise<Row | undefined>;
  /** Writes when a key was used last. Called at most once a minute a key in each process. */
  touch: (row: Row, usedAt: Date) => Promise<void>;
  /** Told when `touch` fails; the call goes on. */
  onTouchFailed?: (error: unknown) => void;
  now?: () => Date;
}

export interface ApiKeys<Row> {
  /** Lets keys with this scope in. */
  guard: (scope: string) => Guard<Row>;
}

/** Together with one query this stays within the second after which a revoked key must be dead. */
const rememberMs = 750;
const touchMs = 60_000;
const many = 5000;

/**
 * Recognises callers by an API key. None, a malformed, an unknown, a revoked and an expired key get
 * the same 401, so that nobody learns which keys there once were.
 */
export const createApiKeys = <Row extends ApiKeyRow>(options: ApiKeyOptions<Row>): ApiKeys<Row> => {
  const { header = 'X-API-Key', prefix, find, touch, onTouchFailed, now = () => new Date() } = options;
  const seen = new LRUCache<string, Promise<Row | undefined>>({ max: many, ttl: rememberMs });
  // Apart from the known keys, so that a flood of unknown ones evicts none of those.
  const unknown = new LRUCache<string, true>({ max: many, ttl: rememberMs });
  const touched = new LRUCache<string, true>({ max: many, ttl: touchMs });
  const challenge = `ApiKey realm="platform", header="${header}"`;
  const refused = (unknownKey?: string) =>
    new Unauthorized('A valid API key is needed.', challenge, 'unauthorized', unknownKey);

  /** One query for all requests with this key in a short time, also when the key is unknown. */
  const lookUp = async (hash: string): Promise<Row | undefined> => {
    if (unknown.has(hash)) return undefined;
    const known = seen.get(hash);
    if (known !== undefined) return known;
    const asked = find(hash);
    seen.set(hash, asked);
    const forget = () => {
      if (seen.peek(hash) === asked) seen.delete(hash);
    };
    const row = await asked.catch((error: unknown) => {
      forget();
      throw error;
    });
    if (row !== undefined) return row;
    forget();
    unknown.set(hash, true);
    return undefined;
  };

  const note = async (row: Row): Promise<void> => {
    if (touched.has(row.id)) return;
    touched.set(row.id, true);
    await touch(row, now()).catch((error: unknown) => onTouchFailed?.(error));
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
      if (row.revokedAt !== null) throw refused();
      if (row.expiresAt !== null && row.expiresAt <= now()) throw refused();
      if (!row.scopes.includes(scope)) throw new InsufficientScope(scope);
      void note(row);
      return row;
    },
    keyOf: ({ id }) => id,
  });

  return { guard };
};
