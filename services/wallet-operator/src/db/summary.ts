import { date, integer, numeric, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';

/** Sums may be larger than the largest balance, which is that of int64. */
const sum = (name: string) => numeric(name, { mode: 'bigint' }).notNull();

/**
 * The account summary of days that are over, by currency and game. A row exists for each game and currency that has
 * entries on the day, or whose closing is not 0; so `closing` of the newest day is all that later days need.
 */
export const dailySums = pgTable(
  'daily_sums',
  {
    /** UTC. */
    day: date().notNull(),
    currency: text().notNull(),
    /** Empty for deposits, withdrawals and adjustments. */
    gameCode: text('game_code').notNull(),
    entries: integer().notNull(),
    bets: sum('bets'),
    wins: sum('wins'),
    /** The part of the wins in rounds that began with a win. */
    promotional: sum('promotional'),
    reversals: sum('reversals'),
    deposits: sum('deposits'),
    withdrawals: sum('withdrawals'),
    /** Signed. */
    adjustments: sum('adjustments'),
    /** Sum of all entries up to the end of the day. */
    closing: sum('closing'),
  },
  (table) => [primaryKey({ columns: [table.day, table.currency, table.gameCode] })],
);
