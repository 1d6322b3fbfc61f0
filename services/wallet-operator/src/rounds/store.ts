import type { Page } from '@platform/pagination/page-limit';
import { and, asc, eq, getTableColumns, isNull, lt, sql, type SQL } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { entries, players, rounds } from '../db/tables.ts';

const { openedSeq: _openedSeq, ...columns } = getTableColumns(rounds);

/** Reads the entries of a round by the primary key, from the one that opened it. */
const money = sql<[stake: string, result: string]>`(
  select array[coalesce(-sum(amount) filter (where operation = 'debit'), 0), coalesce(sum(amount), 0)]::text[]
  from ${entries} where player_id = ${rounds.playerId} and seq >= ${rounds.openedSeq} and round_id = ${rounds.roundId})`;

const select = (orm: PostgresJsDatabase) =>
  orm
    .select({ ...columns, currency: players.currency, money })
    .from(rounds)
    .innerJoin(players, eq(players.playerId, rounds.playerId));

export type RoundRow = Awaited<ReturnType<typeof select>>[number];

export const findRound = async (
  orm: PostgresJsDatabase,
  playerId: string,
  roundId: string,
): Promise<RoundRow | undefined> => {
  const [row] = await select(orm).where(and(eq(rounds.playerId, playerId), eq(rounds.roundId, roundId)));
  return row;
};

/** An instant, or a number of seconds before the present time of the database. */
const instantOf = (before: number | string): SQL =>
  typeof before === 'string' ? sql`${before}::timestamptz` : sql`now() - make_interval(secs => ${before})`;

/** The function reads the index of round ids and returns the players who have such a round. */
const hasId = (roundId: string): SQL =>
  sql`${rounds.roundId} = ${roundId} and ${rounds.playerId} = any(array(select players_of_round(${roundId})))`;

interface RoundFilter {
  /** An instant, or seconds ago. */
  olderThan: number | string;
  status?: 'open' | undefined;
  roundId?: string | undefined;
}

/** The oldest first; one more than the page holds. */
export const listRounds = (
  orm: PostgresJsDatabase,
  { olderThan, status, roundId }: RoundFilter,
  { limit, offset }: Page,
): Promise<RoundRow[]> =>
  select(orm)
    .where(
      and(
        status === 'open' || roundId === undefined ? isNull(rounds.closedAt) : undefined,
        roundId === undefined ? undefined : hasId(roundId),
        lt(rounds.openedAt, instantOf(olderThan)),
      ),
    )
    .orderBy(asc(rounds.openedAt), asc(rounds.playerId), asc(rounds.roundId))
    .limit(limit + 1)
    .offset(Number(offset));

export const countOpenRounds = (orm: PostgresJsDatabase, before: number): Promise<number> =>
  orm.$count(rounds, and(isNull(rounds.closedAt), lt(rounds.openedAt, instantOf(before))));
