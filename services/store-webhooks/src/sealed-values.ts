import type { Sql } from 'postgres';
import type { Context } from './context.ts';
import { refusedAddresses } from './inbox/refused-addresses.ts';
import { urlContext } from './receive/received-event.ts';
import { outcomeContext } from './payments/use-cases.ts';
import { credentialsContext } from './stores/known-store.ts';

/**
 * Returns the encrypted values of a store. Each has the context that it is bound to, and `replace` to store its new ciphertext
 * unless the value has changed.
 */
const sealedValuesOf = async (sql: Sql, store: string, credentials: string) => {
  const challenges = await sql<{ service: string; id: string; transactionId: string; outcome: string }[]>`
    select service, three_ds_server_trans_id as id, transaction_id as "transactionId", outcome
    from payment_challenges where store_id = ${store} and outcome is not null`;
  const storeValue = {
    owner: 'stores' as const,
    sealed: credentials,
    context: credentialsContext(store),
    replace: (resealed: string) =>
      sql`update stores set credentials = ${resealed} where id = ${store} and credentials = ${credentials}`,
  };
  const eventValues = (await refusedAddresses(sql, store)).map(({ id, url, replace }) => ({
    owner: 'events' as const,
    sealed: url,
    context: urlContext(store, id),
    replace,
  }));
  const paymentValues = challenges.map(({ service, id, transactionId, outcome }) => ({
    owner: 'payments' as const,
    sealed: outcome,
    context: outcomeContext({ storeId: store, service, transactionId }),
    replace: (resealed: string) => sql`
      update payment_challenges set outcome = ${resealed} where store_id = ${store} and service = ${service}
        and three_ds_server_trans_id = ${id} and outcome = ${outcome}`,
  }));
  return [storeValue, ...eventValues, ...paymentValues];
};

/**
 * Encrypts all values of older keys again with the first key: the credentials of stores, the addresses of refused events and
 * the outcomes of payments. It may run while the service runs and may be repeated. Returns how many values of each type were
 * encrypted again, and how many no key of SECRETS_KEY decrypts.
 */
export const rotateSecrets = async ({ database: { sql }, box }: Context) => {
  const rotated = { stores: 0, events: 0, payments: 0, unreadable: 0 };
  const stores = await sql<{ id: string; credentials: string }[]>`
    select id, credentials from stores order by id`;
  for (const { id, credentials } of stores)
    for (const { owner, sealed, context, replace } of await sealedValuesOf(sql, id, credentials)) {
      if (!box.isOutdated(sealed)) continue;
      const value = box.open(sealed, context);
      if (value === undefined) rotated.unreadable++;
      else rotated[owner] += (await replace(box.seal(value, context))).count;
    }
  return rotated;
};
