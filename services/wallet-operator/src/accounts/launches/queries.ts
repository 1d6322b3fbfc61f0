import type { Page } from '@platform/pagination/list';
import type { Prunable } from '@platform/service-kit/pruning';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { firstRow, allOf, createdBetween, equalTo, isoTime, firstValue } from '../../db/sql.ts';
import type { LaunchFilter, LaunchRecord } from './schema.ts';

export type LaunchRow = z.input<typeof LaunchRecord>;

/** Launches that are older than LAUNCHES_DAYS; deleted in the background. Their ids (UUIDv7) contain the time. */
export const outdatedLaunches = ({ LAUNCHES_DAYS }: { LAUNCHES_DAYS: number }): Prunable => ({
  table: 'launches',
  outdated: `launch_id < (select uuidv7(${-LAUNCHES_DAYS} * interval '1 day'))`,
});

const launchColumns = (sql: ISql) => sql`
  launch_id as "launchId", player_id as "playerId", game_code as "gameCode", launched_by as "launchedBy", outcome,
  ${isoTime(sql, sql`created_at`)} as "createdAt"`;

/** Inserts a launch and returns its id. */
export const insertLaunch = (
  sql: ISql,
  { playerId, gameCode, launchedBy }: Pick<LaunchRow, 'playerId' | 'gameCode' | 'launchedBy'>,
  outcome: LaunchRow['outcome'],
) =>
  firstValue(sql<[{ value: string }]>`
    insert into launches (player_id, game_code, launched_by, outcome)
    values (${playerId}, ${gameCode}, ${launchedBy}, ${outcome}) returning launch_id as value`);

export const updateOutcome = (sql: ISql, launchId: string, outcome: LaunchRow['outcome']) => sql`
  update launches set outcome = ${outcome} where launch_id = ${launchId}`;

export const findLaunch = (sql: ISql, launchId: string) =>
  firstRow(sql<LaunchRow[]>`
    select ${launchColumns(sql)} from launches where launch_id = ${launchId}`);

/** Launches, newest first; one more than the page holds. */
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
