import type { Database } from '@platform/service-kit/db';
import { and, eq, gt, lte } from 'drizzle-orm';
import type { Sql } from 'postgres';
import { sessions } from '../db/tables.ts';
import type { SessionName } from './refresh-token.ts';

type Executor = Pick<Database['orm'], 'select' | 'insert' | 'update' | 'delete'>;

const its = ({ userId, id }: SessionName) => and(eq(sessions.userId, userId), eq(sessions.id, id));

/** Whether the session lasts at `now`. Asked at each request, so prepared. */
export const isLive = async (sql: Sql, { userId, id }: SessionName, now: string): Promise<boolean> => {
  const rows = await sql`
    select from sessions where user_id = ${userId} and id = ${id} and expires_at > ${now}`;
  return rows.length === 1;
};

export const insertSession = async (
  orm: Executor,
  session: SessionName & { refreshHash: Buffer; createdAt: string; expiresAt: string },
): Promise<void> => {
  await orm.insert(sessions).values(session);
};

interface Rotation {
  from: Buffer;
  to: Buffer;
  now: string;
  expiresAt: string;
}

/** Exchanges the refresh hash; false when `from` is not the one that is good. Of several at once, one wins. */
export const rotate = async (
  orm: Executor,
  session: SessionName,
  { from, to, now, expiresAt }: Rotation,
): Promise<boolean> => {
  const rotated = await orm
    .update(sessions)
    .set({ refreshHash: to, expiresAt })
    .where(and(its(session), eq(sessions.refreshHash, from), gt(sessions.expiresAt, now)))
    .returning({ id: sessions.id });
  return rotated.length === 1;
};

/** Whether there was such a session. */
export const deleteSession = async (orm: Executor, session: SessionName): Promise<boolean> => {
  const deleted = await orm.delete(sessions).where(its(session)).returning({ id: sessions.id });
  return deleted.length === 1;
};

/** Forgets the user's sessions that are over at `now`. */
export const pruneSessions = async (orm: Executor, userId: string, now: string): Promise<void> => {
  await orm.delete(sessions).where(and(eq(sessions.userId, userId), lte(sessions.expiresAt, now)));
};
