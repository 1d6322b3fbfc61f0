import type { ISql } from 'postgres';
import { firstValue } from './sql.ts';

/** The time of the database, which all processes use, because their own clocks may differ. */
export const databaseNow = async (sql: ISql): Promise<Date> =>
  new Date(
    await firstValue(sql<[{ value: number }]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as value`),
  );

/** SQL: the latest stored time that is credible at `moment`. A later one was written while the database's clock ran ahead. */
export const latestCredible = (moment: string): string => `(${moment} + interval '1 minute')`;

/** SQL: the time of a decision about a player, which never goes back (docs/adr/0100-one-clock-for-each-player.md). */
export const decisionTime = (moment: string, decidedAt: string): string =>
  `case when ${decidedAt} <= ${latestCredible(moment)} then greatest(${moment}, ${decidedAt}) else ${moment} end`;

/** SQL: the last excluded day of a player as text; null without an exclusion, and for an exclusion without end. */
export const lastExcludedDay = (players: string): string =>
  `to_char((nullif(${players}.excluded_until, 'infinity') - interval '1 microsecond')
    at time zone coalesce(${players}.time_zone, 'UTC'), 'YYYY-MM-DD')`;
