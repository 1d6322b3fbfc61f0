import { Conflict } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { readable } from '../hooks/body.ts';
import { AddressUnreadable, receiptOf, reportUnreadable, urlOf } from '../hooks/receipt.ts';
import { inspectEvent } from '../hooks/subject.ts';
import type { Receipt } from '../inbox/receipt.ts';
import { storeReceipts } from '../inbox/queries.ts';
import type { KnownStore } from '../stores/known-store.ts';
import { knownStore } from '../stores/use-cases.ts';
import type { Span } from './schema.ts';
import { visitSpan } from './span.ts';
import { findEvent, type EventRow } from './queries.ts';

type Rechecked = Receipt['state'] | 'ignored';

/** Ends a transaction in which the event turned out to be a duplicate. */
class Duplicate extends Error {}

/** Replaces the refused event by the event that is stored if the signature is valid. */
const accept = async (
  context: Context,
  store: KnownStore,
  event: EventRow,
  url: string,
  content: unknown,
) => {
  const { database, box, tracker } = context;
  const { id, storeId, body, headers } = event;
  const now = new Date(event.receivedAt);
  const receipt = receiptOf({ id, store, address: event, body, content, headers, url, now, box });
  try {
    const status = await database.sql.begin(async (sql): Promise<Rechecked> => {
      const { count } = await sql`
        with refused as (
          delete from results where store_id = ${storeId} and id = ${id} and state = 'refused' returning id)
        delete from events where store_id = ${storeId} and id in (select id from refused)`;
      // A concurrent recheck has accepted it.
      if (count === 0) return 'pending';
      const [stored] = await storeReceipts(sql, [receipt]);
      if (stored === 'duplicate') throw new Duplicate();
      return receipt.state;
    });
    if (status === 'failed') reportUnreadable(tracker, receipt);
    return status;
  } catch (error) {
    if (!(error instanceof Duplicate)) throw error;
    await database.sql`
      update results set state = 'ignored', error = 'The same event was accepted before.'
      where store_id = ${storeId} and id = ${id} and state = 'refused'`;
    return 'ignored';
  }
};

/**
 * Verifies the signature as at the time of receipt. Without a secret it cannot be verified, so the event stays refused.
 * A dry run changes nothing, and a valid signature makes the event pending.
 */
const recheck = async (
  context: Context,
  store: KnownStore,
  event: EventRow,
  isDryRun = false,
): Promise<Rechecked> => {
  const { body, headers, receivedAt } = event;
  const url = urlOf(context.box, event);
  const content = readable(body, headers['content-type']);
  const request = { headers, body, url, now: new Date(receivedAt) };
  const { signed } = inspectEvent(store, event.event, event.service, content, request);
  if (signed !== true) return 'refused';
  return isDryRun ? 'pending' : accept(context, store, event, url, content);
};

/** Verifies a refused event again, and processes it if its signature is valid now. Throws NotFound and Conflict. */
export const recheckEvent = async (context: Context, storeId: string, id: string): Promise<Rechecked> => {
  const event = await findEvent(context.database.orm, storeId, id);
  if (event.state !== 'refused')
    throw new Conflict('event_not_refused', `The event is ${event.state}; only a refused one is rechecked.`);
  const status = await recheck(context, await knownStore(context, storeId), event);
  context.onWork.wake();
  return status;
};

/**
 * Verifies the refused events of a span again; `next` is where to go on. Counts events whose addresses cannot be
 * decrypted as failed. A dry run only verifies.
 */
export const recheckSpan = async (context: Context, storeId: string, span: Span, isDryRun: boolean) => {
  const store = await knownStore(context, storeId);
  const { orm } = context.database;
  let [checked, accepted, failed] = [0, 0, 0];
  const each = async (ids: string[]): Promise<void> => {
    for (const eventId of ids) {
      checked++;
      try {
        const event = await findEvent(orm, storeId, eventId);
        if ((await recheck(context, store, event, isDryRun)) === 'pending') accepted++;
      } catch (error) {
        if (!(error instanceof AddressUnreadable)) throw error;
        context.tracker.capture(error, { storeId, eventId });
        failed++;
      }
    }
  };
  const next = await visitSpan(context, { storeId, span, state: 'refused', size: 50, each });
  return { checked, accepted, failed, next };
};
