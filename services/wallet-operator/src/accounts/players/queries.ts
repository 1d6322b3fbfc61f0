import type { Page } from '@platform/pagination/list';
import postgres, { type ISql } from 'postgres';
import type { z } from 'zod';
import { playerSearchText } from '../../db/tables.ts';
import { keptMonth } from '../../limits/month.ts';
import { firstRow, decimalOf, isoTime, allOf, equalTo, type Fragment } from '../../db/sql.ts';
import { decisionTime, lastExcludedDay } from '../../db/time.ts';
import type { NewPlayer, Player, PlayerChange, PlayerQuery } from './schema.ts';

/** A player in the form of the API. */
export type PlayerRow = z.input<typeof Player>;

const playerColumns = (sql: ISql) => sql`
  player_id as "playerId", currency, ${decimalOf(sql, sql`balance`)} as balance, status,
  coalesce(excluded_until > now(), false) as excluded, ${sql.unsafe(lastExcludedDay('players'))} as "excludedUntil",
  coalesce(registration_date, (created_at at time zone 'UTC')::date)::text as "registrationDate",
  name, country_code as "countryCode", language_code as "languageCode", birth_date::text as "birthDate", address,
  time_zone as "timeZone", ${isoTime(sql, sql`created_at`)} as "createdAt"`;

/** The fields by column name, without undefined ones. */
const columnsOf = (fields: object) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [postgres.fromCamel(field), value]),
  );

/** Inserts a player; undefined when the id is already used. */
export const insertPlayer = (sql: ISql, player: z.output<typeof NewPlayer>) =>
  firstRow(sql<PlayerRow[]>`
    insert into players ${sql(columnsOf(player))} on conflict do nothing returning ${playerColumns(sql)}`);

/** `lock` locks the player until the transaction ends. */
export const findPlayer = (sql: ISql, playerId: string, lock = false) =>
  firstRow(sql<PlayerRow[]>`
    select ${playerColumns(sql)} from players where player_id = ${playerId} ${lock ? sql`for no key update` : sql``}`);

/** Whether PostgreSQL has a time zone of this name. */
export const isTimeZone = async (sql: ISql, name: string): Promise<boolean> => {
  const zones = await sql`select from pg_timezone_names where name = ${name}`;
  return zones.length > 0;
};

/** The end of a day in a time zone. Uses the last microsecond of the day, because the midnight after it may occur twice. */
const endOfDay = (sql: ISql, day: Fragment, timeZone: Fragment): Fragment =>
  sql`(${day} + 1 - interval '1 microsecond') at time zone ${timeZone} + interval '1 microsecond'`;

/** SQL: the requested end of the exclusion; `-infinity` ends it, undefined does not change it. */
const requestedEnd = (
  sql: ISql,
  { excluded, excludedUntil }: z.output<typeof PlayerChange>,
  current: Fragment,
  timeZone: Fragment,
): Fragment | undefined => {
  if (excluded === false) return sql`'-infinity'`;
  if (typeof excludedUntil === 'string') return endOfDay(sql, sql`${excludedUntil}::date`, timeZone);
  if (excludedUntil === null)
    return sql`case when ${excluded === true} or ${current} > now() then 'infinity' else ${current} end`;
  return undefined;
};

/** SQL: the end of the current exclusion. If the time zone changes, its last day ends in the zone where it ends later. */
const currentEnd = (
  sql: ISql,
  { timeZone }: z.output<typeof PlayerChange>,
  newTimeZone: Fragment,
): Fragment => {
  if (timeZone === undefined) return sql`excluded_until`;
  const lastDay = sql`(${sql.unsafe(lastExcludedDay('players'))})::date`;
  return sql`case when excluded_until > now() and isfinite(excluded_until)
    then greatest(excluded_until, ${endOfDay(sql, lastDay, newTimeZone)}) else excluded_until end`;
};

/**
 * Updates an existing player. A change cannot end a current exclusion before the end of the next day (in the player's time
 * zone).
 */
export const updatePlayer = async (
  sql: ISql,
  playerId: string,
  change: z.output<typeof PlayerChange>,
): Promise<PlayerRow> => {
  const timeZone = sql`coalesce(${change.timeZone === undefined ? sql`time_zone` : sql`${change.timeZone}::text`}, 'UTC')`;
  const { excluded: _excluded, excludedUntil: _excludedUntil, ...plainFields } = change;
  const current = currentEnd(sql, change, timeZone);
  const requested = requestedEnd(sql, change, current, timeZone);
  const endOfTomorrow = endOfDay(
    sql,
    sql`((now() + interval '24 hours') at time zone ${timeZone})::date`,
    timeZone,
  );
  const earliest = sql`least(coalesce(${current}, '-infinity'), ${endOfTomorrow})`;
  const excludedUntil = requested ? sql`nullif(greatest(${requested}, ${earliest}), '-infinity')` : current;
  const now = sql`${sql.unsafe(decisionTime('now()', 'decided_at'))}`;
  const month = change.timeZone === undefined ? sql`month_since` : keptMonth(sql, now);
  // Only the ledger changes balance, seq and the counters of limits.
  const [row] = await sql<[PlayerRow]>`
    update players set ${sql({ player_id: playerId, ...columnsOf(plainFields) })}, excluded_until = ${excludedUntil},
      month_since = ${month}
    where player_id = ${playerId} returning ${playerColumns(sql)}`;
  return row;
};

/** Whether the id or name contains the literal text, ignoring case. */
const containing = (sql: ISql, q: string): Fragment => sql`${sql.unsafe(playerSearchText)}
  like casefold(${`%${q.replace(/[\\%_]/g, '\\$&')}%`}::text collate "pg_unicode_fast")`;

/** Players, oldest first; one more than the page holds. */
export const listPlayers = (
  sql: ISql,
  { q, status, currency, excluded }: z.output<typeof PlayerQuery>,
  { limit, offset }: Page,
) => sql<PlayerRow[]>`
  select ${playerColumns(sql)} from players
  where ${allOf(sql, [
    q === undefined ? undefined : containing(sql, q),
    ...equalTo(sql, { status, currency }),
    excluded === 'true' ? sql`excluded_until > now()` : undefined,
    excluded === 'false' ? sql`(excluded_until is null or excluded_until <= now())` : undefined,
  ])}
  order by created_at, player_id limit ${limit + 1} offset ${String(offset)}`;
