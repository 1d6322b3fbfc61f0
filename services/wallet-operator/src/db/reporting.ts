import { dateColumn } from '@platform/service-kit/columns';
import {
  boolean,
  date,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { addedAt, fromZero, minor, newId } from './columns.ts';

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

/** The limit that forbade a bet, with decimal amounts or, of a limit on time, minutes. */
export interface RefusedLimit {
  kind: string;
  period: string;
  limit: string;
  remaining: string;
}

/**
 * Callbacks that were refused. The table has a partition for each day (UTC) by the time in the id; the function
 * `keep_refusal_days` of the migration creates and removes them.
 */
export const refusals = pgTable(
  'refusals',
  {
    refusalId: newId('refusal_id').primaryKey(),
    callback: text().notNull(),
    /** Null where the body has no valid one. */
    playerId: text('player_id'),
    roundId: text('round_id'),
    transactionId: text('transaction_id'),
    status: text().notNull(),
    /** The reason of the outcome, or `wrong_syntax`. */
    cause: text().notNull(),
    amount: minor('amount'),
    /** The balance that was answered. */
    balance: minor('balance'),
    limit: jsonb().$type<RefusedLimit>(),
    /** The first field with a wrong syntax. */
    field: text(),
  },
  (table) => [
    index('refusals_player').on(table.playerId, table.refusalId),
    index('refusals_round').on(table.roundId, table.refusalId),
    index('refusals_transaction').on(table.transactionId, table.refusalId),
    index('refusals_cause').on(table.cause, table.refusalId),
  ],
);

/** Signed checkpoints: each seals a range of entries under the root of a Merkle tree (docs/adr/0036). */
export const sealedRanges = pgTable('sealed_ranges', {
  number: minor('number').primaryKey(),
  entries: integer().notNull(),
  total: minor('total').notNull(),
  /** Hash of the checkpoint before. */
  previous: text().notNull(),
  root: text().notNull(),
  sealedAt: dateColumn('sealed_at').notNull(),
  keyId: text('key_id').notNull(),
  signature: text().notNull(),
});

/** Which entries a range holds. Its leaves are in the order of the player ids, and by number within a player. */
export const sealedRuns = pgTable(
  'sealed_runs',
  {
    number: minor('number').notNull(),
    playerId: text('player_id').notNull(),
    firstSeq: minor('first_seq').notNull(),
    lastSeq: minor('last_seq').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.number, table.playerId] }),
    uniqueIndex('sealed_runs_entry').on(table.playerId, table.lastSeq),
  ],
);

/** The newest checkpoint that was signed: one row, which the signer locks. A trigger lets its number only grow by one. */
export const sealedHead = pgTable('sealed_head', {
  id: boolean().primaryKey().default(true),
  number: minor('number').notNull(),
  hash: text().notNull(),
});

/** Public keys whose checkpoints are trusted. A trigger lets only the owner of the table, which migrates, add one. */
export const sealingKeys = pgTable('sealing_keys', {
  keyId: text('key_id').primaryKey(),
  /** `x` of the JWK. */
  x: text().notNull(),
  createdAt: dateColumn('created_at').notNull(),
});

/** What the proof and the walk over all sealed entries have found: one row, which the walk locks. */
export const ledgerChecks = pgTable('ledger_checks', {
  id: boolean().primaryKey().default(true),
  /** When the last proof read its snapshot; null before the first. */
  provedAt: dateColumn('proved_at'),
  /** When the walk began with the first checkpoint. */
  walkBegunAt: addedAt('walk_begun_at'),
  /** The walk has checked the checkpoints up to this number, and the sums of the days up to this one. */
  walkedNumber: fromZero('walked_number'),
  walkedDay: date('walked_day'),
  /** When a walk last reached the end; null before the first time. */
  walkedAt: dateColumn('walked_at'),
  /** With the time at which each was last found. Kept until a walk that began later has ended without finding them. */
  violations: jsonb().notNull().default([]),
});
