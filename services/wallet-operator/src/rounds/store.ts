import type { Page } from '@platform/pagination/page-limit';
import { and, asc, eq, isNull, lt, sql, type SQL } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { rounds } from '../db/tables.ts';

export type RoundRow = typeof rounds.$inferSelect;

export const findRound = async (
  orm: PostgresJsDatabase,
  playerId: string,
  roundId: string,
): Promise<RoundRow | undefined> => {
  const [row] = await orm
    .select()
    .from(rounds)
    .where(and(eq(rounds.playerId, playerId), eq(rounds.roundId, roundId)));
  return row;
};

/** An instant, or a number of seconds before the present time of the database. */
const instantOf = (before: number | string): SQL =>
  typeof before === 'string' ? sql`${before}::timestamptz` : sql`now() - make_interval(secs => ${before})`;

/** Opened before `before` (an instant, or seconds ago) and not closed, the oldest first; one more than the page holds. */
export const listOpenRounds = (
  orm: PostgresJsDatabase,
  before: number | string,
  { limit, offset }: Page,
): Promise<RoundRow[]> =>
  orm
    .select()
    .from(rounds)
    .where(and(isNull(rounds.closedAt), lt(rounds.openedAt, instantOf(before))))
    .orderBy(asc(rounds.openedAt), asc(rounds.playerId), asc(rounds.roundId))
    .limit(limit + 1)
    .offset(Number(offset));

export const countOpenRounds = (orm: PostgresJsDatabase, before: number): Promise<number> =>
  orm.$count(rounds, and(isNull(rounds.closedAt), lt(rounds.openedAt, instantOf(before))));
