import { eq, lt, sql } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { sessions } from '../db/tables.ts';

export type SessionRow = typeof sessions.$inferSelect;

/** Adds a session of `seconds` and deletes those that ended more than a day ago, by the clock of the database. */
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
  await orm.delete(sessions).where(lt(sessions.expiresAt, sql`now() - interval '1 day'`));
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
