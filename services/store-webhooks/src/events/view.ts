import type { z } from 'zod';
import type { Context } from '../context.ts';
import { readable } from '../hooks/body.ts';
import { findStore } from '../stores/store.ts';
import { isoOf, isoOrNull } from '../time.ts';
import { harmlessIn } from './harmless.ts';
import { linksOf } from './links.ts';
import { redact } from './redact.ts';
import type { EventDetail, EventView } from './schema.ts';
import type { EventRow, FullEventRow } from './store.ts';

export const showEvent = (row: EventRow): z.input<typeof EventView> => ({
  id: row.id,
  event: row.event,
  service: row.service,
  entity: row.entity,
  status: row.state as z.input<typeof EventView>['status'],
  attempts: row.attempts,
  error: row.error,
  receivedAt: isoOf(row.receivedAt),
  nextAttemptAt: row.state === 'pending' ? isoOf(row.dueAt) : null,
  finishedAt: isoOrNull(row.finishedAt),
});

const shownHeaders = ['content-type', 'user-agent', 'x-request-id'];

/** An event with its body, masked unless `revealed`; a body that can't be parsed is revealed as text. */
export const showFullEvent = async (
  { database }: Context,
  row: FullEventRow,
  revealed: boolean,
): Promise<z.input<typeof EventDetail>> => {
  const said = readable(row.body, row.headers['content-type']);
  const settings = (await findStore(database.sql, row.storeId))?.settings;
  const body = revealed
    ? (said ?? row.body.toString('utf8'))
    : said === undefined || settings === undefined
      ? null
      : redact(said, harmlessIn(settings, row, said));
  return {
    ...showEvent(row),
    headers: Object.fromEntries(Object.entries(row.headers).filter(([name]) => shownHeaders.includes(name))),
    bytes: row.body.length,
    body,
    revealed,
    links: await linksOf(database.sql, row),
  };
};
