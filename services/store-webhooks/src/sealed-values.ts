import type { PendingQuery, Row, Sql } from 'postgres';
import type { Context } from './context.ts';
import { refusedAddresses, replaceAddress } from './queue/refused-addresses.ts';
import { urlContext } from './receive/received-event.ts';
import { outcomeContext } from './payments/use-cases.ts';
import { credentialsContext } from './stores/known-store.ts';

/** How many values were encrypted again, and how many no key of SECRETS_KEY decrypts. */
export interface Rotated {
  stores: number;
  events: number;
  payments: number;
  unreadable: number;
}

interface SealedValue {
  kind: 'stores' | 'events' | 'payments';
  sealed: string;
  /** What it is bound to. */
  context: string;
  /** Replaces the value unless it has changed meanwhile. */
  replace(again: string): PendingQuery<Row[]>;
}

const sealedValuesOf = async (sql: Sql, store: string, credentials: string): Promise<SealedValue[]> => {
  const refused = await refusedAddresses(sql, store);
  const challenges = await sql<{ service: string; id: string; transactionId: string; outcome: string }[]>`
    select service, three_ds_server_trans_id as id, transaction_id as "transactionId", outcome
    from payment_challenges where store_id = ${store} and outcome is not null`;
  return [
    {
      kind: 'stores',
      sealed: credentials,
      context: credentialsContext(store),
      replace: (again) =>
        sql`update stores set credentials = ${again} where id = ${store} and credentials = ${credentials}`,
    },
    ...refused.map((event): SealedValue => ({
      kind: 'events',
      sealed: event.url,
      context: urlContext(store, event.id),
      replace: (again) => replaceAddress(sql, store, event, again),
    })),
    ...challenges.map(({ service, id, transactionId, outcome }): SealedValue => ({
      kind: 'payments',
      sealed: outcome,
      context: outcomeContext({ storeId: store, service, transactionId }),
      replace: (again) => sql`
        update payment_challenges set outcome = ${again} where store_id = ${store} and service = ${service}
          and three_ds_server_trans_id = ${id} and outcome = ${outcome}`,
    })),
  ];
};

/**
 * Encrypts all values of an older key again with the first key: the credentials of stores, the addresses of refused
 * events and the outcomes of payments. This can run beside the service and be repeated.
 */
export const rotateSecrets = async ({ database, box }: Context): Promise<Rotated> => {
  const { sql } = database;
  const rotated: Rotated = { stores: 0, events: 0, payments: 0, unreadable: 0 };
  const rotate = async ({ kind, sealed, context, replace }: SealedValue): Promise<void> => {
    if (!box.isOutdated(sealed)) return;
    let again: string;
    try {
      again = box.seal(box.open(sealed, context), context);
    } catch {
      rotated.unreadable++;
      return;
    }
    rotated[kind] += (await replace(again)).count;
  };
  const stores = await sql<{ id: string; credentials: string }[]>`
    select id, credentials from stores order by id`;
  for (const { id, credentials } of stores)
    for (const value of await sealedValuesOf(sql, id, credentials)) await rotate(value);
  return rotated;
};
