import type { Page } from '@platform/pagination/page-limit';
import { slice } from '@platform/pagination/slice';
import { NotFound } from '@platform/service-kit/problem';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { requireStore } from '../stores/use-cases.ts';
import { dryRun } from './dry-run.ts';
import type { EventFilter } from './schema.ts';
import { findEvent, insertReveal, listEvents, type FullEventRow, type Reveal } from './store.ts';

export const pageOfEvents = async (context: Context, storeId: string, filter: EventFilter, page: Page) => {
  await requireStore(context, storeId);
  return slice(await listEvents(context.database.sql, storeId, filter, page), page.limit);
};

export const getEvent = async (
  { database }: Context,
  storeId: string,
  eventId: string,
): Promise<FullEventRow> => {
  const row = await findEvent(database.sql, storeId, eventId);
  if (row === undefined) throw new NotFound('event');
  return row;
};

/** An event whose body is about to be shown without masking; recorded before it is returned. */
export const revealEvent = async (context: Context, reveal: Reveal): Promise<FullEventRow> => {
  const row = await getEvent(context, reveal.storeId, reveal.eventId);
  await insertReveal(context.database.sql, v7(), reveal, context.now());
  return row;
};

/** What processing an event again would change. */
export const tryEvent = async (context: Context, storeId: string, eventId: string) =>
  dryRun(context, await getEvent(context, storeId, eventId));
