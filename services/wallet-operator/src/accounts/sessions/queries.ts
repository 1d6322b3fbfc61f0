import type { Prunable } from '@platform/service-kit/pruning';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { isoTime } from '../../ledger/entry.ts';
import type { LaunchRecord } from './schema.ts';

/** A session as the launch that created it. */
export type LaunchRow = z.input<typeof LaunchRecord>;

/** Sessions that ended long ago; deleted in the background. */
export const outdatedSessions: Prunable = {
  table: 'sessions',
  outdated: "expires_at < now() - interval '1 day'",
};

const launchColumns = (sql: ISql) => sql`
  session_id as "launchId", player_id as "playerId", game_code as "gameCode",
  ${isoTime(sql, sql`created_at`)} as "createdAt", ${isoTime(sql, sql`expires_at`)} as "expiresAt"`;

/** Adds a session of `seconds`, by the clock of the database. */
export const insertSession = async (
  sql: ISql,
  { tokenHash, playerId, gameCode }: { tokenHash: string; playerId: string; gameCode: string },
  seconds: number,
): Promise<LaunchRow> => {
  const [launch] = await sql<[LaunchRow]>`
    insert into sessions (token_hash, player_id, game_code, created_at, expires_at)
    values (${tokenHash}, ${playerId}, ${gameCode}, now(), now() + make_interval(secs => ${seconds}))
    returning ${launchColumns(sql)}`;
  return launch;
};

export const findLaunch = async (sql: ISql, launchId: string): Promise<LaunchRow | undefined> => {
  const [launch] = await sql<LaunchRow[]>`
    select ${launchColumns(sql)} from sessions where session_id = ${launchId}`;
  return launch;
};
