import type { Prunable } from '@platform/service-kit/pruning';
import { eq, sql } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { sessions } from '../../db/tables.ts';

export type SessionRow = typeof sessions.$inferSelect;

/** Sessions that ended long ago; deleted in the background. */
export const outdatedSessions: Prunable = {
  table: 'sessions',
  outdated: "expires_at < now() - interval '1 day'",
};

/** Adds a session of `seconds`, by the clock of the database. */
export const insertSession = async (
  orm: PostgresJsDatabase,
  row: Pick<SessionRow, 'tokenHash' | 'playerId' | 'gameCode'>,
  seconds: number,
): Promise<SessionRow> => {
  const expiresAt = sql`now() + make_interval(secs => ${seconds})`;
  const [added] = await orm
    .insert(sessions)
    .values({ ...row, createdAt: sql`now()`, expiresAt })
    .returning();
  if (added === undefined) throw new Error('the session was not stored');
  return added;
};

export const findSession = async (
  orm: PostgresJsDatabase,
  launchId: string,
): Promise<SessionRow | undefined> => {
  const [row] = await orm.select().from(sessions).where(eq(sessions.launchId, launchId));
  return row;
};
