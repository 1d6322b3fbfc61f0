import { Conflict } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { requireStore } from '../stores/use-cases.ts';
import type { ReplaySpan } from './schema.ts';
import { visitSpan } from './span.ts';
import { findEvent, type EventRow } from './queries.ts';

/** Makes events that have ended in one of `states` due again, with all attempts left. Returns how many. */
const enqueue = async (
  { database }: Context,
  storeId: string,
  ids: string[],
  states: string[],
): Promise<number> => {
  const { count } = await database.sql`
    with again as (
      delete from results where store_id = ${storeId} and id = any(${ids}) and state = any(${states}) returning id)
    insert into queue (store_id, entity, id, queued_at, due_at, attempts)
    select store_id, coalesce(entity, id::text), id, now(), now(), 0 from events
    where store_id = ${storeId} and id = any(array(select id from again))`;
  return count;
};

/** A pending event is due at once, with all attempts left; a worker that has it cannot end it any more. */
const restart = ({ database }: Context, { storeId, entity, id }: EventRow) => database.sql`
  update queue set queued_at = now(), due_at = now(), worker = null, attempts = 0, crashes = 0, error = null
  where store_id = ${storeId} and entity = ${entity ?? id} and id = ${id}`;

/** Processes an event again. Throws NotFound, and Conflict for a refused one: its sender is not known. */
export const replayEvent = async (context: Context, storeId: string, eventId: string): Promise<void> => {
  const event = await findEvent(context.database.orm, storeId, eventId);
  if (event.state === 'refused')
    throw new Conflict('event_refused', 'Its signature was not valid; recheck it instead.');
  if (event.state === 'pending') await restart(context, event);
  else await enqueue(context, storeId, [eventId], [event.state]);
  context.onWork.wake();
};

/**
 * Processes the events of a span again; `next` is where to go on when the span is too long for one request. A dry run
 * only counts them.
 */
export const replaySpan = async (context: Context, storeId: string, span: ReplaySpan, isDryRun: boolean) => {
  const { status: state } = span;
  await requireStore(context, storeId);
  let replayed = 0;
  const each = async (ids: string[]): Promise<void> => {
    // Another request may have replayed some of them meanwhile.
    replayed += isDryRun ? ids.length : await enqueue(context, storeId, ids, [state]);
  };
  const next = await visitSpan(context, { storeId, span, state, size: 1000, each });
  return { replayed, next };
};
