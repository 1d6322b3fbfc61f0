import type { Page } from '@platform/pagination/list';
import type { Prunable } from '@platform/service-kit/pruning';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { firstRow } from '../../db/first-row.ts';
import { allOf, createdBetween, equalTo } from '../../db/conditions.ts';
import { isoTime } from '../../ledger/entry.ts';
import { isSessionOpen, sessionEnd, type SessionTimes } from '../../ledger/session-time.ts';
import type { LaunchFilter, LaunchRecord, Session } from './schema.ts';

export type LaunchRow = z.input<typeof LaunchRecord>;
export type SessionRow = z.input<typeof Session>;

/** Sessions after a day and the longest time that they may have; deleted in the background. */
export const outdatedSessions = ({ SESSION_MAX_S }: { SESSION_MAX_S: number }): Prunable => ({
  table: 'sessions',
  outdated: `created_at < now() - interval '1 day' - ${SESSION_MAX_S} * interval '1 second'`,
});

/** Launches after LAUNCHES_DAYS; deleted in the background. Their ids are by time. */
export const outdatedLaunches = ({ LAUNCHES_DAYS }: { LAUNCHES_DAYS: number }): Prunable => ({
  table: 'launches',
  outdated: `launch_id < (select uuidv7(${-LAUNCHES_DAYS} * interval '1 day'))`,
});

const sessionColumns = (sql: ISql) => sql`
  session_id as "sessionId", player_id as "playerId", session.game_code as "gameCode",
  ${isoTime(sql, sql`session.created_at`)} as "createdAt", ${isoTime(sql, sql`expires_at`)} as "expiresAt"`;

/** Adds the session of a launch, by the clock of the database. */
export const insertSession = async (
  sql: ISql,
  session: { tokenHash: string; playerId: string; gameCode: string; sessionId: string },
  times: SessionTimes,
): Promise<SessionRow> => {
  const { tokenHash, playerId, gameCode, sessionId } = session;
  const [row] = await sql<[SessionRow]>`
    insert into sessions as session (token_hash, player_id, game_code, created_at, expires_at, session_id)
    values (${tokenHash}, ${playerId}, ${gameCode}, now(), ${sql.unsafe(sessionEnd('now()', 'now()', times))}, ${sessionId})
    returning ${sessionColumns(sql)}`;
  return row;
};

/** Sessions that hold now. */
const openSessions = (sql: ISql) => sql`
  select ${sessionColumns(sql)} from sessions session left join games game on game.game_code = session.game_code
  where ${sql.unsafe(isSessionOpen('session', 'game', 'now()'))}`;

export const findSession = (sql: ISql, playerId: string, sessionId: string) =>
  firstRow(sql<SessionRow[]>`
    ${openSessions(sql)} and player_id = ${playerId} and session_id = ${sessionId}`);

/** The newest first; one more than the page holds. */
export const listSessions = (sql: ISql, playerId: string, { limit, offset }: Page) => sql<SessionRow[]>`
  ${openSessions(sql)} and player_id = ${playerId}
  order by session_id desc limit ${limit + 1} offset ${String(offset)}`;

const launchColumns = (sql: ISql) => sql`
  launch_id as "launchId", player_id as "playerId", game_code as "gameCode", launched_by as "launchedBy", outcome,
  ${isoTime(sql, sql`created_at`)} as "createdAt"`;

/** Returns the id. */
export const insertLaunch = async (
  sql: ISql,
  { playerId, gameCode, launchedBy }: Pick<LaunchRow, 'playerId' | 'gameCode' | 'launchedBy'>,
  outcome: LaunchRow['outcome'],
): Promise<string> => {
  const [row] = await sql<[{ launchId: string }]>`
    insert into launches (player_id, game_code, launched_by, outcome)
    values (${playerId}, ${gameCode}, ${launchedBy}, ${outcome}) returning launch_id as "launchId"`;
  return row.launchId;
};

export const updateOutcome = (sql: ISql, launchId: string, outcome: LaunchRow['outcome']) => sql`
  update launches set outcome = ${outcome} where launch_id = ${launchId}`;

export const findLaunch = (sql: ISql, launchId: string) =>
  firstRow(sql<LaunchRow[]>`
    select ${launchColumns(sql)} from launches where launch_id = ${launchId}`);

/** The newest first; one more than the page holds. */
export const listLaunches = (
  sql: ISql,
  { playerId, gameCode, outcome, ...range }: z.output<typeof LaunchFilter>,
  { limit, offset }: Page,
) => sql<LaunchRow[]>`
  select ${launchColumns(sql)} from launches
  where ${allOf(sql, [
    ...equalTo(sql, { player_id: playerId, game_code: gameCode, outcome }),
    ...createdBetween(sql, sql`launch_id`, range),
  ])}
  order by launch_id desc limit ${limit + 1} offset ${String(offset)}`;
