import type { Page } from '@platform/pagination/list';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { allOf, createdBetween, equalTo } from '../../db/conditions.ts';
import type { auditEvents } from '../../db/tables.ts';
import { isoTime } from '../../ledger/entry.ts';
import type { AuditEvent, AuditFilter } from './schema.ts';

type NewEvent = Omit<typeof auditEvents.$inferInsert, 'eventId' | 'at'>;

export const insertEvent = async (sql: ISql, { kind, playerId = null, details }: NewEvent): Promise<void> => {
  await sql`insert into audit_events (at, kind, player_id, details)
    values (now(), ${kind}, ${playerId}, ${JSON.stringify(details)}::text::jsonb)`;
};

/** Longer than any transaction: the id of an event is made after the beginning of its transaction, which is its time. */
const longestMs = 3_600_000;

/** The time in an id is truncated to milliseconds, the time of an event is rounded. */
const roundedMs = 1;

const shifted = (instant: string, ms: number): string =>
  new Date(Math.max(0, Date.parse(instant) + ms)).toISOString();

/** The newest first; one more than the page holds. */
export const listEvents = (
  sql: ISql,
  { playerId, kind, from, to }: z.output<typeof AuditFilter>,
  { limit, offset }: Page,
) => sql<z.input<typeof AuditEvent>[]>`
  select event_id as "eventId", ${isoTime(sql, sql`event.at`)} as at, kind, event.player_id as "playerId", currency, details
  from audit_events event left join players player on player.player_id = event.player_id
  where ${allOf(sql, [
    ...equalTo(sql, { 'event.player_id': playerId, kind }),
    from === undefined ? undefined : sql`event.at >= ${from}`,
    to === undefined ? undefined : sql`event.at < ${to}`,
    // Only so that the index finds them.
    ...createdBetween(sql, sql`event_id`, {
      from: from && shifted(from, -roundedMs),
      to: to && shifted(to, longestMs),
    }),
  ])}
  order by event_id desc limit ${limit + 1} offset ${String(offset)}`;
