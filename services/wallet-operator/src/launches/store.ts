import { lt } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { sessions } from '../db/tables.ts';

/** Adds a session, and forgets those that ended long ago. */
export const insertSession = async (
  orm: PostgresJsDatabase,
  row: typeof sessions.$inferInsert,
  forgetBefore: Date,
): Promise<void> => {
  await orm.insert(sessions).values(row);
  await orm.delete(sessions).where(lt(sessions.expiresAt, forgetBefore));
};
