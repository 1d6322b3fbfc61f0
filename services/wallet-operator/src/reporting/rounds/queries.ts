import type { Page } from '@platform/pagination/list';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { decimalOf, isoTime, firstRow, firstValue, type Fragment } from '../../db/sql.ts';
import type { Round, RoundWithEntries } from './schema.ts';

type RoundView = z.input<typeof Round>;

/** Selects rounds with their sums, which read all entries of the player since the round was opened. */
const selectRounds = (sql: ISql, rounds: Fragment, isSummed: Fragment) => sql`
  select round.player_id as "playerId", round.round_id as "roundId", round.game_code as "gameCode",
    case when round.closed_at is null then 'open' else 'closed' end as status,
    ${isoTime(sql, sql`round.opened_at`)} as "openedAt", ${isoTime(sql, sql`round.closed_at`)} as "closedAt",
    player.currency, round.promotional, sums.*
  from (${rounds}) round join players player on player.player_id = round.player_id
    left join lateral (
      select ${decimalOf(sql, sql`coalesce(-sum(amount) filter (where operation = 'debit'), 0)`)} as stake,
        ${decimalOf(sql, sql`coalesce(sum(amount), 0)`)} as result
      from entries
      where player_id = round.player_id and seq >= round.opened_seq and round_id = round.round_id
      -- PostgreSQL checks this before it reads entries.
      having ${isSummed}
    ) sums on true
  order by round.opened_at, round.player_id, round.round_id`;

type SummedRound = Omit<z.input<typeof RoundWithEntries>, 'entries' | 'page'>;

export const findRound = (sql: ISql, playerId: string, roundId: string) => {
  const rounds = sql`select * from rounds where player_id = ${playerId} and round_id = ${roundId}`;
  return firstRow(sql<SummedRound[]>`${selectRounds(sql, rounds, sql`true`)}`);
};

/** Lists sum up only rounds whose player has fewer entries since; a player who went on may have very many. */
const maxEntriesInList = 100;

/** Whether a round was opened before the time `age`, or more than `age` seconds ago by the clock of the database. */
const isOlderThan = (sql: ISql, age: number | string): Fragment =>
  typeof age === 'string'
    ? sql`opened_at < ${age}::timestamptz`
    : sql`opened_at < now() - make_interval(secs => ${age})`;

interface RoundFilter {
  /** A time, or the age in seconds. */
  olderThan: number | string;
  status?: 'open' | undefined;
  roundId?: string | undefined;
}

/** Rounds, oldest first; one more than the page holds. Sums are null after more than `maxEntriesInList` entries. */
export const listRounds = (
  sql: ISql,
  { olderThan, status, roundId }: RoundFilter,
  { limit, offset }: Page,
) => {
  const isOpen = status === 'open' || roundId === undefined ? sql`and closed_at is null` : sql``;
  // players_of_round reads the index of round ids, and returns the players who have such a round.
  const hasId =
    roundId === undefined
      ? sql``
      : sql`and round_id = ${roundId} and player_id = any (array(select players_of_round(${roundId})))`;
  // Sums are added only after the page is selected, so that earlier pages cost nothing.
  const page = sql`
    select * from rounds where ${isOlderThan(sql, olderThan)} ${isOpen} ${hasId}
    order by opened_at, player_id, round_id limit ${limit + 1} offset ${String(offset)}`;
  return sql<RoundView[]>`
    ${selectRounds(sql, page, sql`player.seq - round.opened_seq < ${maxEntriesInList}`)}`;
};

/** The number of rounds that have been open for `seconds` or longer. */
export const countOpenRounds = (sql: ISql, seconds: number) =>
  firstValue(sql<[{ value: number }]>`
    select count(*)::int as value from rounds where closed_at is null and ${isOlderThan(sql, seconds)}`);
