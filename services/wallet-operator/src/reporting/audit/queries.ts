import type { Page } from '@platform/pagination/list';
import type { Executor } from '@platform/service-kit/db';
import { desc, eq, getTableColumns, sql } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { auditEvents, players } from '../../db/tables.ts';

export type AuditRow = typeof auditEvents.$inferSelect & { currency: string | null };

export const insertEvent = async (
  orm: Pick<Executor, 'insert'>,
  event: Omit<typeof auditEvents.$inferInsert, 'eventId' | 'at'>,
): Promise<void> => {
  await orm.insert(auditEvents).values({ ...event, at: sql`now()` });
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
