import type { ISql } from 'postgres';
import { firstValue } from './sql.ts';

/** The time of the database, by which all processes decide: the clock of one machine may be wrong. */
export const databaseNow = async (sql: ISql): Promise<Date> =>
  new Date(
    await firstValue(sql<[{ value: number }]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as value`),
  );

/** SQL: a stored time after this one is ignored at `moment`: it is from a time when the database's clock ran ahead. */
export const latestCredible = (moment: string): string => `(${moment} + interval '1 minute')`;

/** SQL: the time by which a player is decided, so that it never goes back (docs/adr/0100-one-clock-for-each-player.md). */
export const decisionTime = (moment: string, decidedAt: string): string =>
  `case when ${decidedAt} <= ${latestCredible(moment)} then greatest(${moment}, ${decidedAt}) else ${moment} end`;

/**
 * SQL: the last excluded day of a row of players as text; null without an exclusion, and for one without end. An exclusion
 * is one instant in `excluded_until`: it holds before it. `infinity` is an exclusion without end, null none at all.
 */
export const lastExcludedDay = (players: string): string =>
  `to_char((nullif(${players}.excluded_until, 'infinity') - interval '1 microsecond')
    at time zone coalesce(${players}.time_zone, 'UTC'), 'YYYY-MM-DD')`;
