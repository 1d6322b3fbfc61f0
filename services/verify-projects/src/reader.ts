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

/** Who reads: the holder of an access token or of an API key. */
export type Reader = Pick<Caller, 'subject' | 'clients'>;

/** The clients whose projects somebody can read; undefined: those of all, and of none. */
export type Clients = readonly string[] | undefined;

const keySubject = 'key:';
/** The subject of what the holder of a key makes. */
export const subjectOfKey = (id: string): string => `${keySubject}${id}`;

const keyReader = ({ id, clients }: Pick<KeyRow, 'id' | 'clients'>): Reader => ({
  subject: subjectOfKey(id),
  clients: clients === null ? undefined : new Set(clients),
});

/** Admits both. A request with both is judged by one: by its API key where it reads, by its token where it subscribes. */
export const readerGuard = (
  keys: Guard<KeyRow>,
  tokens: Guard<Caller>,
  judgedBy: 'key' | 'token',
): Guard<Reader> => ({
  security: [...keys.security, ...tokens.security],
  schemes: { ...keys.schemes, ...tokens.schemes },
  identify: async (req, limit) => {
    const hasToken = /^bearer /i.test(req.headers.authorization ?? '');
    if (hasToken && (judgedBy === 'token' || req.headers['x-api-key'] === undefined))
      return tokens.identify(req, limit);
    return keyReader(await keys.identify(req, limit));
  },
  keyOf: ({ subject }) => subject,
});

/**
 * Keeps the rights of a reader, and gives them back. Those of a token stay as they were; those of a key are those that it has
 * now: `findKey` gives the clients of a valid one.
 */
export const readerRights = (
  findKey: (id: string) => Promise<Pick<KeyRow, 'id' | 'clients'> | undefined>,
) => ({
  save: ({ subject, clients }: Reader) => ({ subject, stores: null, clients: clients ? [...clients] : null }),
  restore: async (kept: unknown): Promise<Reader | undefined> => {
    const { subject, clients } = kept as { subject: string; clients: string[] | null };
    if (!subject.startsWith(keySubject)) return { subject, clients: clients ? new Set(clients) : undefined };
    const key = await findKey(subject.slice(keySubject.length));
    return key && keyReader(key);
  },
});

export const clientsOf = ({ clients }: Reader): Clients => clients && [...clients];

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
