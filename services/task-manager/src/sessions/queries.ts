import type { Executor } from '@platform/service-kit/db';
import { and, eq, gt, gte, inArray, lt, sql as raw } from 'drizzle-orm';
import type { Queries } from '@platform/service-kit/record';
import type { Sql } from 'postgres';
import { sessions, users } from '../db/tables.ts';
import type { SessionName } from './refresh-token.ts';
import { liveSession, overlapSeconds, refreshSeconds } from './settings.ts';

// Times are those of the database, so that an instance with a wrong clock ends no session.
const now = raw`now()`;
const expiresAt = raw`now() + make_interval(secs => ${refreshSeconds})`;

const matches = ({ userId, id }: SessionName) => and(eq(sessions.userId, userId), eq(sessions.id, id));

/** Whether the session exists and has not expired. Runs for most requests, so it is prepared. */
export const isLive = async (sql: Sql, { userId, id }: SessionName): Promise<boolean> => {
  const statement = `select from ${liveSession('$1', '$2')}`;
  return (await sql.unsafe(statement, [userId, id], { prepare: true })).length === 1;
};

export const insertSession = async (
  orm: Executor,
  session: SessionName & { refreshHash: Buffer },
): Promise<void> => {
  await orm.insert(sessions).values({ ...session, createdAt: now, expiresAt });
};

/** Deletes all sessions of a user but the newest `number`: their ids are in the order of their start. */
export const keepNewestSessions = async (orm: Executor, userId: string, number: number): Promise<void> => {
  const oldestKept = raw`
    (select id from sessions where user_id = ${userId} order by id desc offset ${number - 1} limit 1)`;
  await orm.delete(sessions).where(and(eq(sessions.userId, userId), lt(sessions.id, oldestKept)));
};

/**
 * Replaces the refresh hash `from` by the first of `to` and extends the session. Returns the hash that is
 * valid then: within `overlapSeconds` of such a call the same call returns that of the first one. Undefined
 * when `from` is not valid. Of concurrent calls, one replaces it.
 */
export const replaceRefreshHash = async (
  orm: Executor,
  session: SessionName,
  { from, to }: { from: Buffer; to: readonly [Buffer, ...Buffer[]] },
): Promise<Buffer | undefined> => {
  const live = and(matches(session), gt(sessions.expiresAt, now));
  const valid = { refreshHash: sessions.refreshHash };
  const [replaced] = await orm
    .update(sessions)
    .set({ refreshHash: to[0], rotatedAt: now, expiresAt })
    .where(and(live, eq(sessions.refreshHash, from)))
    .returning(valid);
  if (replaced !== undefined) return replaced.refreshHash;
  const overlap = raw`now() - make_interval(secs => ${overlapSeconds})`;
  const [earlier] = await orm
    .select(valid)
    .from(sessions)
    .where(and(live, inArray(sessions.refreshHash, to), gte(sessions.rotatedAt, overlap)));
  return earlier?.refreshHash;
};

/** The address of the user of a session. */
export const findEmail = async (orm: Executor, userId: string): Promise<string | undefined> => {
  const [user] = await orm.select({ email: users.email }).from(users).where(eq(users.id, userId));
  return user?.email;
};

/** Deletes the sessions of a user, all but one where it is given. Returns their ids. */
export const deleteSessions = async (tx: Queries, userId: string, but?: string): Promise<string[]> => {
  const rows = await tx<{ id: string }[]>`
    delete from sessions where user_id = ${userId} and id is distinct from ${but ?? null}::uuid returning id`;
  return rows.map(({ id }) => id);
};

/** Deletes a live session, if `refreshHash` is its valid hash or is not given. Returns whether there was one. */
export const deleteSession = async (
  orm: Executor,
  session: SessionName,
  refreshHash?: Buffer,
): Promise<boolean> => {
  const hasHash = refreshHash && eq(sessions.refreshHash, refreshHash);
  const deleted = await orm
    .delete(sessions)
    .where(and(matches(session), gt(sessions.expiresAt, now), hasHash))
    .returning({ id: sessions.id });
  return deleted.length === 1;
};
