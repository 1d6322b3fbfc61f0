import type { Page } from '@platform/pagination/list';
import { jsonTable } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import type { Sql } from 'postgres';
import type { SessionName } from './refresh-token.ts';
import { Session } from './schema.ts';
import { liveSession, overlapSeconds, refreshSeconds } from './settings.ts';

/** When and from where a session is used. */
export interface SessionUse extends SessionName {
  network: string;
}

interface NewSession extends SessionUse {
  refreshHash: Buffer;
  browser: string;
}

// Times are those of the database, so that an instance with a wrong clock ends no session.
/** Idle sessions end, and all that began so many days ago. */
const expiresAt = (sql: Queries, startedAt: 'now()' | 'created_at', maxDays: number) => sql`
  least(now() + make_interval(secs => ${refreshSeconds}), ${sql.unsafe(startedAt)} + make_interval(days => ${maxDays}))`;

/** Whether the session exists and has not expired. Runs for most requests, so it is prepared. */
export const isLive = async (sql: Sql, { userId, id }: SessionName): Promise<boolean> => {
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

/** Deletes all sessions of a user but the newest `number`: their ids are in the order of their start. */
export const keepNewestSessions = async (tx: Queries, userId: string, number: number): Promise<void> => {
  await tx`
    delete from sessions where user_id = ${userId} and id < (
      select id from sessions where user_id = ${userId} order by id desc offset ${number - 1} limit 1)`;
};

/**
 * Replaces the refresh hash `from` by the first of `to` and extends the session. Returns the hash that is
 * valid then: within `overlapSeconds` of such a call the same call returns that of the first one. Undefined
 * when `from` is not valid. Of concurrent calls, one replaces it.
 */
export const replaceRefreshHash = async (
  tx: Queries,
  { userId, id }: SessionName,
  { from, to, maxDays }: { from: Buffer; to: readonly [Buffer, ...Buffer[]]; maxDays: number },
): Promise<Buffer | undefined> => {
  const live = tx`user_id = ${userId} and id = ${id} and expires_at > now()`;
  const [replaced] = await tx<{ hash: Buffer; isLive: boolean }[]>`
    update sessions set refresh_hash = ${to[0]}, rotated_at = now(), last_used_at = now(),
      expires_at = ${expiresAt(tx, 'created_at', maxDays)}
    where ${live} and refresh_hash = ${from}
    returning refresh_hash as hash, expires_at > now() as "isLive"`;
  // Its time is over where SESSION_MAX_DAYS was made smaller.
  if (replaced !== undefined) return replaced.isLive ? replaced.hash : undefined;
  const [earlier] = await tx<{ hash: Buffer }[]>`
    select refresh_hash as hash from sessions
    where ${live} and refresh_hash in ${tx([...to])} and rotated_at >= now() - make_interval(secs => ${overlapSeconds})`;
  return earlier?.hash;
};

/** The address of the user of a session. */
export const findEmail = async (sql: Queries, userId: string): Promise<string | undefined> => {
  const [user] = await sql<{ email: string }[]>`select email from users where id = ${userId}`;
  return user?.email;
};

interface Which {
  but?: string | null;
  only?: string | null;
  refreshHash?: Buffer | null;
}

/**
 * Deletes live sessions of a user: all, all but one, or one; one only if `refreshHash` is absent or its valid hash. Returns
 * their ids.
 */
export const deleteSessions = async (
  tx: Queries,
  userId: string,
  { but = null, only = null, refreshHash = null }: Which = {},
): Promise<string[]> => {
  const rows = await tx<{ id: string }[]>`
    delete from sessions
    where user_id = ${userId} and expires_at > now() and id is distinct from ${but}::uuid
      and id = coalesce(${only}::uuid, id) and refresh_hash = coalesce(${refreshHash}::bytea, refresh_hash)
    returning id`;
  return rows.map(({ id }) => id);
};

/** The user of this session has given the password. */
export const updateAuthentication = async (tx: Queries, { userId, id }: SessionName): Promise<void> => {
  await tx`update sessions set authenticated_at = now() where user_id = ${userId} and id = ${id}`;
};

/**
 * Whether the password was given in this session within the last ten minutes. Undefined when it has ended; it cannot end
 * before the transaction does.
 */
export const isAuthenticated = async (
  tx: Queries,
  { userId, id }: SessionName,
): Promise<boolean | undefined> => {
  const [session] = await tx<{ recently: boolean }[]>`
    select authenticated_at > now() - interval '10 minutes' as recently
    from sessions where user_id = ${userId} and id = ${id} and expires_at > now() for share`;
  return session?.recently;
};

/** Where a session was last used. Undefined when it has ended. */
export const findClient = async (
  tx: Queries,
  { userId, id }: SessionName,
): Promise<{ network: string; browser: string } | undefined> => {
  const [client] = await tx<{ network: string; browser: string }[]>`
    select network, browser from sessions where user_id = ${userId} and id = ${id}`;
  return client;
};

/** `current_id` is that of the session that asks. */
const sessionsJson = jsonTable('sessions', Object.keys(Session.shape), { current: 'id = current_id' });

const liveBeside = (sql: Queries, { userId, id }: SessionName) => sql`
  cross join (select ${id}::uuid as current_id) asking where user_id = ${userId} and expires_at > now()`;

/** The live sessions of the user of a session, newest first: one more than the page has, where there is one. */
export const listSessions = (sql: Queries, asking: SessionName, { offset, limit }: Page): Promise<string[]> =>
  sessionsJson.list(
    sql,
    sql`${liveBeside(sql, asking)} order by id desc offset ${String(offset)} limit ${limit + 1}`,
  );

/** One of them. `lock` locks its row until the transaction ends. */
export const findSession = async (
  sql: Queries,
  asking: SessionName,
  id: string,
  lock: boolean,
): Promise<string | undefined> => {
  const lockRow = lock ? sql`for update of sessions` : sql``;
  const [row] = await sessionsJson.list(sql, sql`${liveBeside(sql, asking)} and id = ${id} ${lockRow}`);
  return row;
};

export const updateLastUse = async (sql: Sql, uses: readonly SessionUse[]): Promise<void> => {
  // In one order, so that two instances do not wait for each other.
  const ordered = uses.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await sql`
    with locked as (
      select user_id, id, use.network from sessions join unnest(
        ${ordered.map(({ userId }) => userId)}::uuid[], ${ordered.map(({ id }) => id)}::uuid[],
        ${ordered.map(({ network }) => network)}::text[]) as use (owner, session, network)
      on user_id = owner and id = session order by id for update of sessions)
    update sessions s set last_used_at = now(), network = locked.network
    from locked where s.user_id = locked.user_id and s.id = locked.id`;
};
