import type { ISql } from 'postgres';
import { type Fragment } from '../db/sql.ts';

/**
 * SQL: the first instant of the local month. When clocks go back at midnight, midnight occurs twice, and PostgreSQL returns
 * the second one; the first one is computed from the clock of the day before.
 */
export const monthStart = (sql: ISql, timeZone: Fragment, moment: Fragment) => sql`(
  select case when early at time zone zone = midnight then least(early, late) else late end
  from (select coalesce(${timeZone}, 'UTC') as zone) named
    cross join lateral (select date_trunc('month', ${moment}, zone) as late) last
    cross join lateral (select late at time zone zone as midnight, late - interval '24 hours' as eve) day
    cross join lateral (select eve + (midnight - (eve at time zone zone)) as early) first)`;

/**
 * SQL: the start of the month for the limits of a player. In another time zone the same month begins up to 26 hours later;
 * then `month_since` keeps the earlier start, so that changing the zone does not renew the limit.
 */
export const limitMonth = (sql: ISql, player: 'player' | 'players', moment: Fragment) => sql`(
  select case when start between kept and kept + interval '2 days' then kept else start end
  from (select ${monthStart(sql, sql`${sql(player)}.time_zone`, moment)} as start, ${sql(player)}.month_since as kept) month)`;

/** SQL: the new `month_since` when the time zone of a player changes. */
export const keptMonth = (sql: ISql, moment: Fragment) =>
  sql`greatest(month_since, ${limitMonth(sql, 'players', moment)})`;
