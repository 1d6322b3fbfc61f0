import type { Sql } from 'postgres';
import type { FullEventRow } from './store.ts';

export interface Link {
  /** `events`: the other events about the same; else what the event changed. */
  rel: 'order' | 'member' | 'delivery-job' | 'verification' | 'events';
  href: string;
}

const kindAndId = (entity: string): [kind: string, id: string] => {
  const colon = entity.indexOf(':');
  return [entity.slice(0, colon), entity.slice(colon + 1)];
};

const orderOfPayment = async (sql: Sql, storeId: string, transactionId: string) => {
  const [row] = await sql<{ orderId: string }[]>`
    select order_id as "orderId" from payments
    where store_id = ${storeId} and transaction_id = ${transactionId} limit 1`;
  return row?.orderId;
};

/** Addresses of what an event changed, once it is done, and of the events about the same. */
export const linksOf = async (sql: Sql, { storeId, entity, state }: FullEventRow): Promise<Link[]> => {
  if (entity === null) return [];
  const [kind, id] = kindAndId(entity);
  const of = (rel: Link['rel'], path: string): Link => ({ rel, href: `/v1/stores/${storeId}/${path}` });
  const [, provider] = kind.split('.');
  const name = encodeURIComponent(id);
  const changed = async (): Promise<Link[]> => {
    if (kind === 'order') return [of('order', `orders/${name}`)];
    if (kind === 'member') return [of('member', `members/${name}`)];
    if (kind === 'job') return [of('delivery-job', `delivery-jobs/${name}`)];
    if (provider !== undefined) return [of('verification', `verifications/${name}?service=${provider}`)];
    const orderId = await orderOfPayment(sql, storeId, id);
    return orderId === undefined ? [] : [of('order', `orders/${encodeURIComponent(orderId)}`)];
  };
  return [...(state === 'done' ? await changed() : []), of('events', `events?entity=${name}`)];
};
