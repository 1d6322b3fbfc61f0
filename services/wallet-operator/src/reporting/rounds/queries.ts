import type { Page } from '@platform/pagination/list';
import { and, asc, eq, getTableColumns, isNull, lt, sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { entries, players, rounds } from '../../db/tables.ts';

const { openedSeq: _openedSeq, ...columns } = getTableColumns(rounds);

/** Sums in minor units, as digits. */
type Money = [stake: string, result: string];

export type RoundRow<M extends Money | null = Money> = Omit<typeof rounds.$inferSelect, 'openedSeq'> & {
  currency: string;
  money: M;
};

/** Reads all entries of the player since the one that opened the round. */
const moneyOf = ({
  playerId,
  roundId,
  openedSeq,
}: Record<'playerId' | 'roundId' | 'openedSeq', SQLWrapper>) =>
  sql<Money>`(
  select array[coalesce(-sum(amount) filter (where operation = 'debit'), 0), coalesce(sum(amount), 0)]::text[]
  from ${entries} where player_id = ${playerId} and seq >= ${openedSeq} and round_id = ${roundId})`;

export const findRound = async (
  orm: PostgresJsDatabase,
  playerId: string,
  roundId: string,
): Promise<RoundRow | undefined> => {
  const [row] = await orm
    .select({ ...columns, currency: players.currency, money: moneyOf(rounds) })
    .from(rounds)
    .innerJoin(players, eq(players.playerId, rounds.playerId))
    .where(and(eq(rounds.playerId, playerId), eq(rounds.roundId, roundId)));
  return row;
};

/** An open round of a player who plays on would cost every later entry of the player, each on a page of its own. */
const mostEntriesInList = 100;

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

/**
 * The oldest first; one more than the page holds. `money` is null when the player has more than 100 entries since the
 * round was opened.
 */
export const listRounds = (
  orm: Pick<PostgresJsDatabase, 'select'>,
  { olderThan, status, roundId }: RoundFilter,
  { limit, offset }: Page,
): Promise<RoundRow<Money | null>[]> => {
  // Without the sums, so that rounds before the page cost nothing.
  const page = orm
    .select()
    .from(rounds)
    .where(
      and(
        status === 'open' || roundId === undefined ? isNull(rounds.closedAt) : undefined,
        roundId === undefined ? undefined : hasId(roundId),
        lt(rounds.openedAt, instantOf(olderThan)),
      ),
    )
    .orderBy(asc(rounds.openedAt), asc(rounds.playerId), asc(rounds.roundId))
    .limit(limit + 1)
    .offset(Number(offset))
    .as('page');
  const { playerId, roundId: id, gameCode, openedAt, closedAt, openedSeq, promotional } = page;
  const isShort = sql`${players.seq} - ${openedSeq} < ${mostEntriesInList}`;
  const money = sql<Money | null>`case when ${isShort} then ${moneyOf(page)} end`;
  return orm
    .select({
      playerId,
      roundId: id,
      gameCode,
      openedAt,
      closedAt,
      promotional,
      currency: players.currency,
      money,
    })
    .from(page)
    .innerJoin(players, eq(players.playerId, playerId))
    .orderBy(asc(openedAt), asc(playerId), asc(id));
};

export const countOpenRounds = (orm: PostgresJsDatabase, before: number): Promise<number> =>
  orm.$count(rounds, and(isNull(rounds.closedAt), lt(rounds.openedAt, instantOf(before))));
