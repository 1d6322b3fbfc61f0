import type { Page } from '@platform/pagination/list';
import type { Executor } from '@platform/service-kit/db';
import { desc, eq, getTableColumns, sql } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { ISql } from 'postgres';
import { auditEvents, players } from '../../db/tables.ts';

export type AuditRow = typeof auditEvents.$inferSelect & { currency: string | null };

export type NewEvent = Omit<typeof auditEvents.$inferInsert, 'eventId' | 'at'>;

export const insertEvent = async (on: Pick<Executor, 'insert'> | ISql, event: NewEvent): Promise<void> => {
  if ('insert' in on) await on.insert(auditEvents).values({ ...event, at: sql`now()` });
  else {
    const { kind, playerId = null, details } = event;
    await on`insert into audit_events (at, kind, player_id, details)
      values (now(), ${kind}, ${playerId}, ${JSON.stringify(details)}::text::jsonb)`;
  }
};

/** The newest first; one more than the page holds. */
export const listEvents = (
  orm: PostgresJsDatabase,
  playerId: string | undefined,
  { limit, offset }: Page,
): Promise<AuditRow[]> =>
  orm
    .select({ ...getTableColumns(auditEvents), currency: players.currency })
    .from(auditEvents)
    .leftJoin(players, eq(players.playerId, auditEvents.playerId))
    .where(playerId === undefined ? undefined : eq(auditEvents.playerId, playerId))
    .orderBy(desc(auditEvents.eventId))
    .limit(limit + 1)
    .offset(Number(offset));
