import { Conflict } from '@platform/service-kit/problem';
import { and, eq, inArray, ne, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { inbox } from '../db/tables.ts';
import { requireStore } from '../stores/use-cases.ts';
import type { ReplaySpan } from './schema.ts';
import { inSlices, type Slice } from './slices.ts';
import { hasState, isInSpan, type EventRow } from './store.ts';

const size = 1000;

/** Due now, with all attempts left. */
const pending = { state: 'pending', attempts: 0, dueAt: sql`now()`, error: null, finishedAt: null } as const;

/** Processes an event again. Throws Conflict for a refused one: its sender is not known. */
export const replayEvent = async (context: Context, { storeId, id }: EventRow): Promise<void> => {
  const changed = await context.database.orm
    .update(inbox)
    .set(pending)
    .where(and(eq(inbox.storeId, storeId), eq(inbox.id, id), ne(inbox.state, 'refused')))
    .returning({ id: inbox.id });
  if (changed.length === 0)
    throw new Conflict('event_refused', 'Its signature was not valid; recheck it instead.');
  context.onWork.wake();
};

/** Processes the events of a span again; `next` is where to go on when the span is too long for one request. */
export const replaySpan = async (context: Context, storeId: string, span: ReplaySpan) => {
  const { orm } = context.database;
  await requireStore(context, storeId);
  let replayed = 0;
  const visit = async (after: string | undefined): Promise<Slice> => {
    const found = await orm
      .select({ id: inbox.id })
      .from(inbox)
      .where(and(eq(inbox.storeId, storeId), hasState(span.status), isInSpan({ ...span, after })))
      .orderBy(inbox.id)
      .limit(size);
    const ids = found.map(({ id }) => id);
    // Another request may have replayed some of them meanwhile.
    const changed = await orm
      .update(inbox)
      .set(pending)
      .where(and(eq(inbox.storeId, storeId), inArray(inbox.id, ids), eq(inbox.state, span.status)))
      .returning({ id: inbox.id });
    replayed += changed.length;
    context.onWork.wake();
    return { count: ids.length, last: ids.at(-1) };
  };
  const next = await inSlices({ after: span.after, size }, visit);
  return { replayed, next };
};
