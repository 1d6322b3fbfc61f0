import type { Executor } from '@platform/service-kit/db';
import { and, eq } from 'drizzle-orm';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { payments } from '../db/tables.ts';
import { readable } from '../providers/payload-parsing.ts';
import { erasedHashOf, type EventRow } from '../inbox/find-events.ts';
import { knownStore } from '../stores/use-cases.ts';
import { readingOf, redact, settingsAtReceipt } from './masking.ts';
import { recordReveal, subjectOf, type Requester } from './reveals.ts';
import type { EventDetail, EventLink, EventView } from './schema.ts';

export const showEvent = ({
  storeId: _storeId,
  ...row
}: Omit<EventRow, 'body' | 'headers' | 'dedup'>): z.input<typeof EventView> => ({
  ...row,
  status: row.state,
  nextAttemptAt: row.state === 'pending' ? row.dueAt : null,
});

type Link = z.output<typeof EventLink>;

const paymentOf = async (db: Executor, storeId: string, transactionId: string) => {
  const [row] = await db
    .select({ service: payments.service, orderId: payments.orderId })
    .from(payments)
    .where(and(eq(payments.storeId, storeId), eq(payments.transactionId, transactionId)))
    .limit(1);
  return row;
};

/** Links to the records that a processed event changed, and to the events about the same entity. */
const linksOf = async (db: Executor, { storeId, entity, state }: EventRow): Promise<Link[]> => {
  if (entity === null) return [];
  const colon = entity.indexOf(':');
  const [entityType, provider] = entity.slice(0, colon).split('.');
  const id = entity.slice(colon + 1);
  const encodedId = encodeURIComponent(id);
  const linkTo = (rel: Link['rel'], path: string): Link => ({ rel, href: `/v1/stores/${storeId}/${path}` });
  const notifications = linkTo('notifications', `notifications?reference=${encodedId}`);
  const recordLinks = async (): Promise<Link[]> => {
    if (entityType === 'order') return [linkTo('order', `orders/${encodedId}`), notifications];
    if (entityType === 'member') return [linkTo('member', `members/${encodedId}`), notifications];
    if (entityType === 'job') return [linkTo('delivery-job', `delivery-jobs/${encodedId}`), notifications];
    if (provider !== undefined)
      return [linkTo('verification', `verifications/${encodedId}?service=${provider}`), notifications];
    const payment = await paymentOf(db, storeId, id);
    if (payment === undefined) return [];
    return [
      linkTo('payment', `payments/${encodedId}?service=${payment.service}`),
      linkTo('order', `orders/${encodeURIComponent(payment.orderId)}`),
    ];
  };
  return [...(state === 'done' ? await recordLinks() : []), linkTo('events', `events?entity=${encodedId}`)];
};

const shownHeaders = ['content-type', 'user-agent', 'x-request-id'];

/**
 * An event with its body. Values are masked, unless `reveal` names the caller who requests the whole body; the reveal is
 * recorded first. A body that cannot be parsed is revealed as text. Throws NotFound and TooManyRequests.
 */
export const showFullEvent = async (
  context: Context,
  storeId: string,
  eventId: string,
  { caller, req }: Requester,
  isRevealed: boolean,
): Promise<z.input<typeof EventDetail>> => {
  const { eventReader } = context;
  const { orm } = context.database;
  await eventReader.requireAllowance(caller);
  const row = await eventReader.read(caller, storeId, eventId);
  if (isRevealed) await recordReveal(context, [subjectOf(row)], { kind: 'body', caller, req });
  const settings = await settingsAtReceipt(context, await knownStore(context, storeId), row);
  const links = await linksOf(orm, row);
  const erasedBodySha256 = await erasedHashOf(orm, row);
  const bodyOf = (): unknown => {
    const content = readable(row.body, row.headers['content-type']);
    if (isRevealed) return content ?? row.body.toString('utf8');
    return content === undefined ? null : redact(content, readingOf(settings, row, content).shownFields);
  };
  return {
    ...showEvent(row),
    headers: Object.fromEntries(Object.entries(row.headers).filter(([name]) => shownHeaders.includes(name))),
    bytes: row.body.length,
    erasedBodySha256,
    // The last await, because a parsed body takes many times the memory of its bytes.
    body: await context.reading([storeId], bodyOf),
    revealed: isRevealed,
    links,
  };
};
