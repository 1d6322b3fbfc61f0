import { NotFound } from '@platform/service-kit/problem';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { findEvent, insertReveal, type EventRow } from './store.ts';

/** Throws NotFound. */
export const getEvent = async ({ database }: Context, storeId: string, id: string): Promise<EventRow> => {
  const event = await findEvent(database.orm, storeId, id);
  if (event === undefined) throw new NotFound('event');
  return event;
};

/** An event whose body is about to be shown without masking; that is recorded first. */
export const revealEvent = async (
  context: Context,
  storeId: string,
  eventId: string,
  by: { revealedBy: string; requestId: string },
): Promise<EventRow> => {
  const event = await getEvent(context, storeId, eventId);
  const revealedAt = context.now().toISOString();
  await insertReveal(context.database.orm, { storeId, id: v7(), eventId, ...by, revealedAt });
  return event;
};
