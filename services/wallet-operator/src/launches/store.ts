import { eq, lt } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { sessions } from '../db/tables.ts';

export type SessionRow = typeof sessions.$inferSelect;

/** Adds a session and deletes those that ended before `deleteBefore`. */
export const insertSession = async (
  orm: PostgresJsDatabase,
  row: typeof sessions.$inferInsert,
  deleteBefore: Date,
): Promise<SessionRow> => {
  const [added] = await orm.insert(sessions).values(row).returning();
  await orm.delete(sessions).where(lt(sessions.expiresAt, deleteBefore));
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
