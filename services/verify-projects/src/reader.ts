import type { ApiKeyRow } from '@platform/auth/api-keys';
import type { Caller } from '@platform/auth/bearer';
import { InsufficientScope } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import type { Guard } from '@platform/service-kit/route';
import type { PendingQuery, Row } from 'postgres';

/** The fields of a key that the guard needs. */
export interface KeyRow extends ApiKeyRow {
  /** The clients whose projects it can read; null: all. */
  clients: readonly string[] | null;
}

/** A reader: the holder of an access token or of an API key. */
export type Reader = Pick<Caller, 'subject' | 'clients'>;

/** The clients whose projects a reader can read; undefined: all projects, also those without a client. */
export type Clients = readonly string[] | undefined;

const keySubject = 'key:';
/** The subject of subscriptions that the holder of a key creates. */
export const subjectOfKey = (id: string): string => `${keySubject}${id}`;

const keyReader = ({ id, clients }: Pick<KeyRow, 'id' | 'clients'>): Reader => ({
  subject: subjectOfKey(id),
  clients: clients === null ? undefined : new Set(clients),
});

/** Admits API keys and access tokens. For a request with both, `preferred` decides. */
export const readerGuard = (
  keys: Guard<KeyRow>,
  tokens: Guard<Caller>,
  preferred: 'key' | 'token',
): Guard<Reader> => ({
  // Tools use the first.
  security: (preferred === 'key' ? [keys, tokens] : [tokens, keys]).flatMap(({ security }) => security),
  schemes: { ...keys.schemes, ...tokens.schemes },
  identify: async (req, limit) => {
    const hasToken = /^bearer /i.test(req.headers.authorization ?? '');
    if (hasToken && (preferred === 'token' || req.headers['x-api-key'] === undefined))
      return tokens.identify(req, limit);
    return keyReader(await keys.identify(req, limit));
  },
  keyOf: ({ subject }) => subject,
});

/**
 * Saves and restores the rights of a reader. Those of a token are restored as they were saved, those of a key as they are now:
 * `findKey` returns the clients of a valid key.
 */
export const readerRights = (
  findKey: (id: string) => Promise<Pick<KeyRow, 'id' | 'clients'> | undefined>,
) => ({
  save: ({ subject, clients }: Reader) => ({ subject, stores: null, clients: clients ? [...clients] : null }),
  restore: async (saved: unknown): Promise<Reader | undefined> => {
    const { subject, clients } = saved as { subject: string; clients: string[] | null };
    if (!subject.startsWith(keySubject)) return { subject, clients: clients ? new Set(clients) : undefined };
    const key = await findKey(subject.slice(keySubject.length));
    return key && keyReader(key);
  },
});

export const clientsOf = ({ clients }: Reader): Clients => clients && [...clients];

/** SQL that follows a condition on projects: only those of the clients. */
export const andClients = (sql: Queries, clients: Clients): PendingQuery<Row[]> =>
  clients === undefined ? sql`` : sql`and projects.client = any(${clients})`;

/** Refuses tokens with the claim `clients`, which can only read: API keys and languages belong to no client. */
export const unlimited = (tokens: Guard<Caller>): Guard<Caller> => ({
  ...tokens,
  identify: async (req, limit) => {
    const caller = await tokens.identify(req, limit);
    if (caller.clients === undefined) return caller;
    throw new InsufficientScope('verify:admin without the claim clients');
  },
});
