import type { PendingQuery, Row } from 'postgres';
import type { Context } from './context.ts';
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

interface Challenge {
  service: string;
  id: string;
  transactionId: string;
  outcome: string;
}

/**
 * Encrypts all values of an older key again with the first key: the credentials of stores, the addresses of refused
 * events and the outcomes of payments. Each value is replaced only if it has not changed meanwhile,
 * so this can run beside the service and be repeated.
 */
export const rotateSecrets = async ({ database, box }: Context): Promise<Rotated> => {
  const { sql } = database;
  const rotated: Rotated = { stores: 0, events: 0, payments: 0, unreadable: 0 };
  const rotate = async (
    what: 'stores' | 'events' | 'payments',
    sealed: string,
    context: string,
    replace: (again: string) => PendingQuery<Row[]>,
  ): Promise<void> => {
    if (!box.isOutdated(sealed)) return;
    let again: string;
    try {
      again = box.seal(box.open(sealed, context), context);
    } catch {
      rotated.unreadable++;
      return;
    }
    rotated[what] += (await replace(again)).count;
  };

  const stores = await sql<{ store: string; credentials: string }[]>`
    select id as store, credentials from stores order by id`;
  for (const { store, credentials } of stores) {
    await rotate(
      'stores',
      credentials,
      credentialsContext(store),
      (again) => sql`
      update stores set credentials = ${again} where id = ${store} and credentials = ${credentials}`,
    );
    const refused = await sql<{ id: string; url: string }[]>`
      select id, headers ->> ':url' as url from inbox
      where store_id = ${store} and state = 'refused' and headers ? ':url'`;
    for (const { id, url } of refused)
      await rotate(
        'events',
        url,
        urlContext(store, id),
        (again) => sql`
        update events set headers = headers || jsonb_build_object(':url', ${again}::text)
        where store_id = ${store} and id = ${id} and headers ->> ':url' = ${url}`,
      );
    const challenges = await sql<Challenge[]>`
      select service, three_ds_server_trans_id as id, transaction_id as "transactionId", outcome
      from payment_challenges where store_id = ${store} and outcome is not null`;
    for (const { service, id, transactionId, outcome } of challenges) {
      const context = outcomeContext({ storeId: store, service, transactionId });
      await rotate(
        'payments',
        outcome,
        context,
        (again) => sql`
        update payment_challenges set outcome = ${again} where store_id = ${store} and service = ${service}
          and three_ds_server_trans_id = ${id} and outcome = ${outcome}`,
      );
    }
  }
  return rotated;
};
