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

/** A sum of minor units; may exceed int64. */
const sum = (name: string) => numeric(name, { mode: 'bigint' }).notNull();

/**
 * The account summary of past days, by currency and game. A row exists for each game and currency with entries on the day or
 * a closing other than 0, so later days need only `closing` of the newest day.
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
    /** The part of the wins that opened a round. */
    promotional: sum('promotional'),
    reversals: sum('reversals'),
    deposits: sum('deposits'),
    withdrawals: sum('withdrawals'),
    /** Signed. */
    adjustments: sum('adjustments'),
    /** Sum of all entries before the end of the day. */
    closing: sum('closing'),
  },
  (table) => [primaryKey({ columns: [table.day, table.currency, table.gameCode] })],
);

/** The limit that forbade a bet. Amounts are decimal, or minutes of a session. */
export interface RefusedLimit {
  kind: string;
  period: string;
  limit: string;
  remaining: string;
}

/**
 * Refused callbacks. The table has a partition for each day (UTC) of the time in the id; the function `keep_refusal_days` of
 * the migration creates and drops the partitions.
 */
export const refusals = pgTable(
  'refusals',
  {
    refusalId: newId('refusal_id').primaryKey(),
    callback: text().notNull(),
    /** Null when the body has no valid one. */
    playerId: text('player_id'),
    roundId: text('round_id'),
    transactionId: text('transaction_id'),
    status: text().notNull(),
    /** The reason of the outcome, or `wrong_syntax`. */
    cause: text().notNull(),
    amount: minor('amount'),
    /** The balance in the answer. */
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

/** The entries of each range: one run of consecutive entries per player. The leaves are sorted by player id, then by `seq`. */
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

/** The newest signed checkpoint: one row, which the signer locks. A trigger allows its number only to grow by one. */
export const sealedHead = pgTable('sealed_head', {
  id: boolean().primaryKey().default(true),
  number: minor('number').notNull(),
  hash: text().notNull(),
});

/** Trusted public keys. A trigger lets only the owner of the table, the role of migrations, add one. */
export const sealingKeys = pgTable('sealing_keys', {
  keyId: text('key_id').primaryKey(),
  /** `x` of the JWK. */
  x: text().notNull(),
  createdAt: dateColumn('created_at').notNull(),
});

/** Results of the proof and of the walk over all sealed entries: one row, which the walk locks. */
export const ledgerChecks = pgTable('ledger_checks', {
  id: boolean().primaryKey().default(true),
  /** When the last proof read its snapshot; null before the first. */
  provedAt: dateColumn('proved_at'),
  /** When the current walk began. */
  walkBegunAt: addedAt('walk_begun_at'),
  /** The walk has checked the checkpoints up to this number. */
  walkedNumber: fromZero('walked_number'),
  /** The walk has checked the sums of the days up to this day. */
  walkedDay: date('walked_day'),
  /** When the last walk ended; null before the first end. */
  walkedAt: dateColumn('walked_at'),
  /** Known violations, each with the time at which it was last found; kept until a later complete walk does not find it. */
  violations: jsonb().notNull().default([]),
});
