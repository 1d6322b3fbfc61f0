import type { Page } from '@platform/pagination/list';
import { jsonTable } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import type { Sql } from 'postgres';
import type { SessionIds } from './refresh-token.ts';
import { Session } from './schema.ts';
import { liveSession, overlapSeconds, refreshSeconds } from './settings.ts';

/** A use of a session and the network that it came from. */
export interface SessionUse extends SessionIds {
  network: string;
}

interface NewSession extends SessionUse {
  refreshHash: Buffer;
  browser: string;
}

// All times come from the clock of the database, so that an instance with a wrong clock does not end sessions.
/** SQL: a session expires when it is not refreshed for `refreshSeconds`, at the latest `maxDays` after its start. */
const expiresAt = (sql: Queries, startedAt: 'now()' | 'created_at', maxDays: number) => sql`
  least(now() + make_interval(secs => ${refreshSeconds}), ${sql.unsafe(startedAt)} + make_interval(days => ${maxDays}))`;

/** Returns whether the session exists and has not expired. Runs for most requests, so the statement is prepared. */
export const isLive = async (sql: Sql, { userId, id }: SessionIds): Promise<boolean> => {
  const statement = `select from ${liveSession('$1', '$2')}`;
  return (await sql.unsafe(statement, [userId, id], { prepare: true })).length === 1;
};

export const insertSession = async (
  tx: Queries,
  { userId, id, refreshHash, browser, network }: NewSession,
  maxDays: number,
): Promise<void> => {
  await tx`
    insert into sessions
      (user_id, id, refresh_hash, browser, network, created_at, authenticated_at, last_used_at, expires_at)
    values (${userId}, ${id}, ${refreshHash}, ${browser}, ${network}, now(), now(), now(),
      ${expiresAt(tx, 'now()', maxDays)})`;
};

/** Deletes all sessions of a user except the newest `count`. Ids sort by the start of the session. */
export const keepNewestSessions = async (tx: Queries, userId: string, count: number): Promise<void> => {
  await tx`
    delete from sessions where user_id = ${userId} and id < (
      select id from sessions where user_id = ${userId} order by id desc offset ${count - 1} limit 1)`;
};

/**
 * Replaces the refresh hash `from` with the first of `to`, extends the session and returns the valid hash. If another call has
 * replaced `from` less than `overlapSeconds` ago, changes nothing and returns the hash of that call. Undefined when `from` is not
 * valid. Of concurrent calls, only one replaces it.
 */
export const replaceRefreshHash = async (
  tx: Queries,
  { userId, id }: SessionIds,
  { from, to, maxDays }: { from: Buffer; to: readonly [Buffer, ...Buffer[]]; maxDays: number },
): Promise<Buffer | undefined> => {
  const live = tx`user_id = ${userId} and id = ${id} and expires_at > now()`;
  const [replaced] = await tx<{ hash: Buffer; isLive: boolean }[]>`
    update sessions set refresh_hash = ${to[0]}, rotated_at = now(), last_used_at = now(),
      expires_at = ${expiresAt(tx, 'created_at', maxDays)}
    where ${live} and refresh_hash = ${from}
    returning refresh_hash as hash, expires_at > now() as "isLive"`;
  // A reduced SESSION_MAX_DAYS may have ended the session.
  if (replaced !== undefined) return replaced.isLive ? replaced.hash : undefined;
  const [earlier] = await tx<{ hash: Buffer }[]>`
    select refresh_hash as hash from sessions
    where ${live} and refresh_hash in ${tx([...to])} and rotated_at >= now() - make_interval(secs => ${overlapSeconds})`;
  return earlier?.hash;
};

/** The email address of a user. */
export const findEmail = async (sql: Queries, userId: string): Promise<string | undefined> => {
  const [user] = await sql<{ email: string }[]>`select email from users where id = ${userId}`;
  return user?.email;
};

interface SessionFilter {
  except?: string | null;
  only?: string | null;
  refreshHash?: Buffer | null;
}

/**
 * Deletes live sessions of a user: all, all `except` one, or `only` one. With `refreshHash`, only a session whose valid hash it
 * is. Returns the ids of the deleted sessions.
 */
export const deleteSessions = async (
  tx: Queries,
  userId: string,
  { except = null, only = null, refreshHash = null }: SessionFilter = {},
): Promise<string[]> => {
  const rows = await tx<{ id: string }[]>`
    delete from sessions
    where user_id = ${userId} and expires_at > now() and id is distinct from ${except}::uuid
      and id = coalesce(${only}::uuid, id) and refresh_hash = coalesce(${refreshHash}::bytea, refresh_hash)
    returning id`;
  return rows.map(({ id }) => id);
};

/** Stores that the user has entered the password in this session. */
export const updateAuthentication = async (tx: Queries, { userId, id }: SessionIds): Promise<void> => {
  await tx`update sessions set authenticated_at = now() where user_id = ${userId} and id = ${id}`;
};

/**
 * Returns whether the password was entered in this session within the last ten minutes. Undefined when the session has ended.
 * Locks the user, so that changes of one user cannot deadlock, and the session, so that it cannot end before the transaction does.
 */
export const isAuthenticated = async (
  tx: Queries,
  { userId, id }: SessionIds,
): Promise<boolean | undefined> => {
  await tx`select from users where id = ${userId} for no key update`;
  const [session] = await tx<{ isRecent: boolean }[]>`
    select authenticated_at > now() - interval '10 minutes' as "isRecent"
    from sessions where user_id = ${userId} and id = ${id} and expires_at > now() for share`;
  return session?.isRecent;
};

/** Network and browser of the last use of a session, which it locks. Undefined when the session was deleted. */
export const findClient = async (
  tx: Queries,
  { userId, id }: SessionIds,
): Promise<{ network: string; browser: string } | undefined> => {
  const [client] = await tx<{ network: string; browser: string }[]>`
    select network, browser from sessions where user_id = ${userId} and id = ${id} for share`;
  return client;
};

/** Maps rows of `sessions` to the JSON of `Session`. `current_id` is the id of the session that sends the request. */
const sessionsJson = jsonTable('sessions', Object.keys(Session.shape), { current: 'id = current_id' });

const liveSessionsOfUser = (sql: Queries, { userId, id }: SessionIds) => sql`
  cross join (select ${id}::uuid as current_id) current where user_id = ${userId} and expires_at > now()`;

/** Live sessions of the user, newest first. Reads one more than the page, to find out whether there is a next page. */
export const listSessions = (sql: Queries, current: SessionIds, { offset, limit }: Page): Promise<string[]> =>
  sessionsJson.list(
    sql,
    sql`${liveSessionsOfUser(sql, current)} order by id desc offset ${String(offset)} limit ${limit + 1}`,
  );

/** A live session of the user. `lock` locks its row until the transaction ends. */
export const findSession = async (
  sql: Queries,
  current: SessionIds,
  id: string,
  lock: boolean,
): Promise<string | undefined> => {
  const lockRow = lock ? sql`for update of sessions` : sql``;
  const [row] = await sessionsJson.list(
    sql,
    sql`${liveSessionsOfUser(sql, current)} and id = ${id} ${lockRow}`,
  );
  return row;
};

export const updateLastUse = async (sql: Sql, uses: readonly SessionUse[]): Promise<void> => {
  // Sorted, so that two instances lock rows in the same order and cannot deadlock.
  const sortedUses = uses.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await sql`
    with locked as (
      select user_id, id, use.network from sessions join unnest(
        ${sortedUses.map(({ userId }) => userId)}::uuid[], ${sortedUses.map(({ id }) => id)}::uuid[],
        ${sortedUses.map(({ network }) => network)}::text[]) as use (owner, session, network)
      on user_id = owner and id = session order by id for update of sessions)
    update sessions s set last_used_at = now(), network = locked.network
    from locked where s.user_id = locked.user_id and s.id = locked.id`;
};
