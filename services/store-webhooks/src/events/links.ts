import type { Executor } from '@platform/service-kit/db';
import { and, eq } from 'drizzle-orm';
import type { z } from 'zod';
import { payments } from '../db/tables.ts';
import type { EventRow } from '../queue/find-events.ts';
import type { EventLink } from './schema.ts';

type Link = z.output<typeof EventLink>;

const kindAndId = (entity: string): [kind: string, id: string] => {
  const colon = entity.indexOf(':');
  return [entity.slice(0, colon), entity.slice(colon + 1)];
};

const paymentOf = async (db: Executor, storeId: string, transactionId: string) => {
  const [row] = await db
    .select({ service: payments.service, orderId: payments.orderId })
    .from(payments)
    .where(and(eq(payments.storeId, storeId), eq(payments.transactionId, transactionId)))
    .limit(1);
  return row;
};

/** Addresses of the records that a processed event changed, and of the events about the same entity. */
export const linksOf = async (db: Executor, { storeId, entity, state }: EventRow): Promise<Link[]> => {
  if (entity === null) return [];
  const [kind, id] = kindAndId(entity);
  const of = (rel: Link['rel'], path: string): Link => ({ rel, href: `/v1/stores/${storeId}/${path}` });
  const [, provider] = kind.split('.');
  const name = encodeURIComponent(id);
  const notifications = of('notifications', `notifications?reference=${name}`);
  const changed = async (): Promise<Link[]> => {
    if (kind === 'order') return [of('order', `orders/${name}`), notifications];
    if (kind === 'member') return [of('member', `members/${name}`), notifications];
    if (kind === 'job') return [of('delivery-job', `delivery-jobs/${name}`), notifications];
    if (provider !== undefined)
      return [of('verification', `verifications/${name}?service=${provider}`), notifications];
    const payment = await paymentOf(db, storeId, id);
    if (payment === undefined) return [];
    return [
      of('payment', `payments/${payment.service}/${name}`),
      of('order', `orders/${encodeURIComponent(payment.orderId)}`),
    ];
  };
  return [...(state === 'done' ? await changed() : []), of('events', `events?entity=${name}`)];
};
