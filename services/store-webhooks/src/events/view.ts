import type { z } from 'zod';
import type { Context } from '../context.ts';
import { readable } from '../providers/payload-parsing.ts';
import { findEvent, type EventRow } from '../queue/find-events.ts';
import { knownStore } from '../stores/use-cases.ts';
import { linksOf } from './links.ts';
import { redact } from './redact.ts';
import { recordReveal, type Reveal } from './reveals.ts';
import type { EventDetail, EventView } from './schema.ts';
import { unmaskedAtReceipt } from './unmasked.ts';

export const showEvent = ({
  storeId: _storeId,
  ...row
}: Omit<EventRow, 'body' | 'headers' | 'dedup'>): z.input<typeof EventView> => ({
  ...row,
  status: row.state,
  nextAttemptAt: row.state === 'pending' ? row.dueAt : null,
});

const shownHeaders = ['content-type', 'user-agent', 'x-request-id'];

/**
 * An event with its body. Values are masked, unless `reveal` names the caller who requests the whole body; that is
 * recorded first. A body that cannot be parsed is revealed as text. Throws NotFound.
 */
export const showFullEvent = async (
  context: Context,
  storeId: string,
  eventId: string,
  reveal: Reveal | undefined,
): Promise<z.input<typeof EventDetail>> => {
  const { orm } = context.database;
  const row = await findEvent(orm, storeId, eventId);
  if (reveal !== undefined) await recordReveal(context, [row], reveal);
  const content = readable(row.body, row.headers['content-type']);
  const store = await knownStore(context, storeId);
  const masked = async () =>
    content === undefined ? null : redact(content, (await unmaskedAtReceipt(context, store, row)).shown);
  return {
    ...showEvent(row),
    headers: Object.fromEntries(Object.entries(row.headers).filter(([name]) => shownHeaders.includes(name))),
    bytes: row.body.length,
    body: reveal === undefined ? await masked() : (content ?? row.body.toString('utf8')),
    revealed: reveal !== undefined,
    links: await linksOf(orm, row),
  };
};
