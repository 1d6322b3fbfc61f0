import type { ApiKeyRow } from '@platform/auth/api-keys';
import type { Caller } from '@platform/auth/bearer';
import { InsufficientScope } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import type { Guard } from '@platform/service-kit/route';
import type { PendingQuery, Row } from 'postgres';

/** What the guard needs of a key. */
export interface KeyRow extends ApiKeyRow {
  /** The clients whose projects it can read; null: all. */
  clients: readonly string[] | null;
}

/** Who reads: the holder of an API key or of an access token. */
export type Reader = KeyRow | Caller;

/** The clients whose projects somebody can read; undefined: those of all, and of none. */
export type Clients = readonly string[] | undefined;

const isCaller = (reader: Reader): reader is Caller => 'subject' in reader;

/** Admits both. A request with an API key is judged by it, also when it has a token as well. */
export const readerGuard = (keys: Guard<KeyRow>, tokens: Guard<Caller>): Guard<Reader> => ({
  security: [...keys.security, ...tokens.security],
  schemes: { ...keys.schemes, ...tokens.schemes },
  identify: (req, limit) => {
    const hasToken = /^bearer /i.test(req.headers.authorization ?? '');
    const guard = hasToken && req.headers['x-api-key'] === undefined ? tokens : keys;
    return guard.identify(req, limit);
  },
  keyOf: (reader) => (isCaller(reader) ? tokens.keyOf(reader) : keys.keyOf(reader)),
});

export const clientsOf = ({ clients }: Reader): Clients => (clients ? [...clients] : undefined);

/** SQL behind a condition on projects: only those of the clients. */
export const andOf = (sql: Queries, clients: Clients): PendingQuery<Row[]> =>
  clients === undefined ? sql`` : sql`and projects.client = any(${clients})`;

/** Refuses tokens that the claim `clients` limits: they read, because keys and languages belong to no client. */
export const unlimited = (tokens: Guard<Caller>): Guard<Caller> => ({
  ...tokens,
  identify: async (req, limit) => {
    const caller = await tokens.identify(req, limit);
    if (caller.clients === undefined) return caller;
    throw new InsufficientScope('verify:admin without the claim clients');
  },
});
