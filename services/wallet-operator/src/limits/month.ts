import type { ISql } from 'postgres';
import { type Fragment } from '../db/sql.ts';

/**
 * The first instant of the local month. Where clocks go back at midnight, it occurs twice, and PostgreSQL means the
 * second one; the first one is found from the clock of the day before.
 */
export const monthStart = (sql: ISql, timeZone: Fragment, moment: Fragment) => sql`(
  select case when early at time zone zone = midnight then least(early, late) else late end
  from (select coalesce(${timeZone}, 'UTC') as zone) named
    cross join lateral (select date_trunc('month', ${moment}, zone) as late) last
    cross join lateral (select late at time zone zone as midnight, late - interval '24 hours' as eve) day
    cross join lateral (select eve + (midnight - (eve at time zone zone)) as early) first)`;

/**
 * The start of the month for limits of a row of players. The same month begins up to 26 hours later in another zone: a
 * player who has changed the zone meanwhile does not get the limit of the month again.
 */
export const limitMonth = (sql: ISql, player: 'player' | 'players', moment: Fragment) => sql`(
  select case when start between kept and kept + interval '2 days' then kept else start end
  from (select ${monthStart(sql, sql`${sql(player)}.time_zone`, moment)} as start, ${sql(player)}.month_since as kept) month)`;

/** What `month_since` becomes when the time zone of a row of `players` changes. */
export const keptMonth = (sql: ISql, moment: Fragment) =>
  sql`greatest(month_since, ${limitMonth(sql, 'players', moment)})`;
