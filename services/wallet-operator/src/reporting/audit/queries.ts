import type { Page } from '@platform/pagination/list';
import type { Executor } from '@platform/service-kit/db';
import { sql as raw } from 'drizzle-orm';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { auditEvents } from '../../db/tables.ts';
import { isoTime } from '../../ledger/entry.ts';
import type { AuditEvent } from './schema.ts';

type NewEvent = Omit<typeof auditEvents.$inferInsert, 'eventId' | 'at'>;

export const insertEvent = async (on: Pick<Executor, 'insert'> | ISql, event: NewEvent): Promise<void> => {
  if ('insert' in on) await on.insert(auditEvents).values({ ...event, at: raw`now()` });
  else {
    const { kind, playerId = null, details } = event;
    await on`insert into audit_events (at, kind, player_id, details)
      values (now(), ${kind}, ${playerId}, ${JSON.stringify(details)}::text::jsonb)`;
  }
};

/** The newest first, of a player or of all; one more than the page holds. */
export const listEvents = (sql: ISql, playerId: string | undefined, { limit, offset }: Page) => sql<
  z.input<typeof AuditEvent>[]
>`
  select event_id as "eventId", ${isoTime(sql, sql`event.at`)} as at, kind, event.player_id as "playerId", currency, details
  from audit_events event left join players player on player.player_id = event.player_id
  ${playerId === undefined ? sql`` : sql`where event.player_id = ${playerId}`}
  order by event_id desc limit ${limit + 1} offset ${String(offset)}`;
