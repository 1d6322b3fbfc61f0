import type { Caller } from './bearer.ts';

/** What is kept of the holder of a token for work that goes on when the token has expired, as JSON. */
interface Kept {
  subject: string;
  scopes: string[];
  stores: string[] | null;
  clients: string[] | null;
}

const setOf = (list: readonly string[] | null) => (list === null ? undefined : new Set(list));
const listOf = (set: ReadonlySet<string> | undefined) => (set === undefined ? null : [...set]);

/** Keeps the rights of a caller, and gives them back. */
export const callerRights = {
  save: ({ subject, scopes, stores, clients }: Caller): Kept => ({
    subject,
    scopes: [...scopes],
    stores: listOf(stores),
    clients: listOf(clients),
  }),
  restore: (kept: unknown): Promise<Caller> => {
    const { subject, scopes, stores, clients } = kept as Kept;
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
