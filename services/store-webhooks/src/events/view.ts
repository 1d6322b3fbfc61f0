import { v7 } from 'uuid';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { eventReveals } from '../db/tables.ts';
import { readable } from '../hooks/body.ts';
import { findStore } from '../stores/store.ts';
import { harmlessIn } from './harmless.ts';
import { linksOf } from './links.ts';
import { redact } from './redact.ts';
import type { EventDetail, EventView } from './schema.ts';
import type { EventRow } from './store.ts';

export const showEvent = (row: Omit<EventRow, 'body' | 'headers' | 'dedup'>): z.input<typeof EventView> => ({
  ...row,
  status: row.state,
  nextAttemptAt: row.state === 'pending' ? row.dueAt : null,
});

const shownHeaders = ['content-type', 'user-agent', 'x-request-id'];

/** An event with its body, masked unless `revealed`; a body that cannot be parsed is revealed as text. */
export const showFullEvent = async (
  { database }: Context,
  row: EventRow,
  revealed: boolean,
): Promise<z.input<typeof EventDetail>> => {
  const content = readable(row.body, row.headers['content-type']);
  const { settings } = await findStore(database.orm, row.storeId);
  const masked = () => (content === undefined ? null : redact(content, harmlessIn(settings, row, content)));
  return {
    ...showEvent(row),
    headers: Object.fromEntries(Object.entries(row.headers).filter(([name]) => shownHeaders.includes(name))),
    bytes: row.body.length,
    body: revealed ? (content ?? row.body.toString('utf8')) : masked(),
    revealed,
    links: await linksOf(database.orm, row),
  };
};

/** Records who is about to be shown the body of an event without masking. */
export const recordReveal = async (
  { database, now }: Context,
  { storeId, id: eventId }: EventRow,
  by: { revealedBy: string; requestId: string },
): Promise<void> => {
  const reveal = { storeId, id: v7(), eventId, ...by, revealedAt: now().toISOString() };
  await database.orm.insert(eventReveals).values(reveal);
};
