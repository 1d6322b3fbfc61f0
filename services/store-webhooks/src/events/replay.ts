import { Conflict } from '@platform/service-kit/problem';
import { and, eq, inArray, ne, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { inbox } from '../db/tables.ts';
import { requireStore } from '../stores/use-cases.ts';
import type { ReplaySpan } from './schema.ts';
import { visitSpan } from './span.ts';
import { findEvent } from './store.ts';

/** Due now, with all attempts left. */
const pending = { state: 'pending', attempts: 0, dueAt: sql`now()`, error: null, finishedAt: null } as const;

/** Processes an event again. Throws NotFound, and Conflict for a refused one: its sender is not known. */
export const replayEvent = async (context: Context, storeId: string, eventId: string): Promise<void> => {
  const { orm } = context.database;
  const { id } = await findEvent(orm, storeId, eventId);
  const changed = await orm
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
  const { status: state } = span;
  await requireStore(context, storeId);
  let replayed = 0;
  const each = async (ids: string[]): Promise<void> => {
    // Another request may have replayed some of them meanwhile.
    const changed = await orm
      .update(inbox)
      .set(pending)
      .where(and(eq(inbox.storeId, storeId), inArray(inbox.id, ids), eq(inbox.state, state)))
      .returning({ id: inbox.id });
    replayed += changed.length;
  };
  const next = await visitSpan(context, { storeId, span, state, size: 1000, each });
  return { replayed, next };
};
