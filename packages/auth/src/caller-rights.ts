import type { Caller } from './bearer.ts';

/** The rights of a caller as JSON, stored for work that continues after the token has expired. */
interface StoredRights {
  subject: string;
  scopes: string[];
  stores: string[] | null;
  clients: string[] | null;
}

const setOf = (list: readonly string[] | null) => (list === null ? undefined : new Set(list));
const listOf = (set: ReadonlySet<string> | undefined) => (set === undefined ? null : [...set]);

/** Converts a caller to stored rights and back. Restored rights never expire. */
export const callerRights = {
  save: ({ subject, scopes, stores, clients }: Caller): StoredRights => ({
    subject,
    scopes: [...scopes],
    stores: listOf(stores),
    clients: listOf(clients),
  }),
  restore: (rights: unknown): Promise<Caller> => {
    const { subject, scopes, stores, clients } = rights as StoredRights;
    return Promise.resolve({
      subject,
      scopes: new Set(scopes),
      stores: setOf(stores),
      clients: setOf(clients),
      sessionId: undefined,
      expiresAt: new Date(8.64e15),
    });
  },
};
