import { Conflict } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import type { Fragment, Queries } from '../db/sql.ts';
import { requireStore } from '../stores/use-cases.ts';
import type { ReplaySpan } from './schema.ts';
import { inSlices, type Slice } from './slices.ts';
import { hasState, spanOf } from './store.ts';
import { getEvent } from './use-cases.ts';

const size = 1000;

/** Due now, with all attempts left. */
const pending = (sql: Queries): Fragment =>
  sql`state = 'pending', attempts = 0, due_at = now(), error = null, finished_at = null`;

/** Processes an event again. Throws Conflict for a refused one: its sender is not known. */
export const replayEvent = async (context: Context, storeId: string, eventId: string): Promise<void> => {
  await getEvent(context, storeId, eventId);
  const { sql } = context.database;
  const { count } = await sql`
    update inbox set ${pending(sql)} where store_id = ${storeId} and id = ${eventId} and state <> 'refused'`;
  if (count === 0) throw new Conflict('event_refused', 'Its signature was not valid; recheck it instead.');
  context.onWork.wake();
};

/** Processes the events of a span again; `next` is where to go on when the span is too long for one request. */
export const replaySpan = async (context: Context, storeId: string, span: ReplaySpan) => {
  await requireStore(context, storeId);
  const { sql } = context.database;
  let replayed = 0;
  const visit = async (after: string | undefined): Promise<Slice> => {
    const rows = await sql<{ id: string; changed: boolean }[]>`
      with slice as materialized (
        select id from inbox
        where store_id = ${storeId} and ${hasState(sql, span.status)} ${spanOf(sql, { ...span, after })}
        order by id limit ${size}),
      changed as (
        update inbox set ${pending(sql)}
        where store_id = ${storeId} and id in (select id from slice) and state = ${span.status}
        returning id)
      select id, id in (select id from changed) as changed from slice order by id`;
    // Another request may have replayed some of them meanwhile: they belong to the slice all the same.
    replayed += rows.filter(({ changed }) => changed).length;
    context.onWork.wake();
    return { count: rows.length, last: rows.at(-1)?.id };
  };
  const next = await inSlices({ after: span.after, size }, visit);
  return { replayed, next };
};
