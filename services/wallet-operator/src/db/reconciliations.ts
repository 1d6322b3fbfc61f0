import { dateColumn } from '@platform/service-kit/columns';
import { sql } from 'drizzle-orm';
import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { differenceKinds, repairActions, repairStates } from '../reconciliation/difference.ts';
import { minor, newId } from './columns.ts';

/** Comparisons with statements of the game server. */
export const reconciliations = pgTable('reconciliations', {
  reconciliationId: newId('reconciliation_id').primaryKey(),
  createdAt: dateColumn('created_at').notNull(),
  /** Subject of the access token. */
  createdBy: text('created_by').notNull(),
  /** The period: from `periodFrom` (inclusive) to `periodTo` (exclusive). */
  periodFrom: dateColumn('period_from').notNull(),
  periodTo: dateColumn('period_to').notNull(),
  toleranceS: integer('tolerance_s').notNull(),
  /**
   * receiving: the statement is being received; lines: its lines are compared with our entries; entries: our entries of the
   * period are looked up in the statement; removing: its lines are deleted; ended.
   */
  step: text({ enum: ['receiving', 'lines', 'entries', 'removing', 'ended'] })
    .notNull()
    .default('receiving'),
  /** Why it failed; null: it has not failed. */
  failure: text({
    enum: ['interrupted', 'invalid_statement', 'too_many_differences', 'one_factor', 'withdrawn', 'internal'],
  }),
  /** When lines were last received, compared or deleted. */
  touchedAt: dateColumn('touched_at').notNull(),
  lines: integer().notNull().default(0),
  /** How many lines of the statement contain each field; null until it is complete. */
  fields: jsonb(),
  /** Progress of the step: lines up to this number were compared or deleted. */
  lineDone: integer('line_done').notNull().default(0),
  /** Progress of the step `entries`: entries before this instant were looked up. */
  entriesDone: dateColumn('entries_done'),
  differences: integer().notNull().default(0),
  /** Number of lines with the same amount as our entry, by currency; without amounts of 0. */
  equalAmounts: jsonb('equal_amounts').notNull().default({}),
  /** Failed transactions of the comparison since the last one that succeeded. */
  failedAttempts: integer('failed_attempts').notNull().default(0),
});

/** Lines of statements while they are compared. */
export const reconciliationLines = pgTable(
  'reconciliation_lines',
  {
    reconciliationId: uuid('reconciliation_id').notNull(),
    line: integer().notNull(),
    transactionId: text('transaction_id').notNull(),
    /** As in `entries`. */
    idSpace: text('id_space').notNull(),
    playerId: text('player_id').notNull(),
    operation: text({ enum: ['debit', 'credit', 'rollback'] }).notNull(),
    /** Minor units without a sign; null for rollbacks without an amount. */
    amount: minor('amount'),
    currency: text(),
    roundId: text('round_id'),
    gameCode: text('game_code'),
    roundClosed: boolean('round_closed'),
    reverses: text(),
    at: dateColumn('at'),
    /** An earlier line has the same transaction. */
    isRepeated: boolean('is_repeated').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.reconciliationId, table.line] }),
    uniqueIndex('reconciliation_lines_transaction')
      .on(table.reconciliationId, table.transactionId, table.idSpace)
      .where(sql`not ${table.isRepeated}`),
    index('reconciliation_lines_reverses')
      .on(table.reconciliationId, table.reverses, table.idSpace)
      .where(sql`${table.reverses} is not null`),
  ],
);

/** Differences. Repaired ones are never deleted, because they show which entries are repairs. */
export const reconciliationDifferences = pgTable(
  'reconciliation_differences',
  {
    reconciliationId: uuid('reconciliation_id').notNull(),
    /** 1, 2, 3, …; without gaps until expired differences are deleted. */
    number: integer().notNull(),
    kind: text({ enum: differenceKinds }).notNull(),
    playerId: text('player_id').notNull(),
    transactionId: text('transaction_id').notNull(),
    /** The line of the statement, as `Side`; null when there is none. */
    there: jsonb(),
    /** Our entry, as `Side`; null when there is none. */
    here: jsonb(),
    repair: text({ enum: repairActions }).notNull(),
    state: text({ enum: repairStates }).notNull().default('open'),
    /** Status and reason of the ledger's decision about the repair. */
    status: text(),
    reason: text(),
    /** The dry run by which the repair was last attempted. */
    dryRunId: uuid('dry_run_id'),
    /** Amount that the repair moves, in minor units without a sign. */
    amount: minor('amount'),
    repairedAt: dateColumn('repaired_at'),
    repairedBy: text('repaired_by'),
    /** Transaction id of the repair; set before the repair is sent to the ledger. */
    repairTransactionId: text('repair_transaction_id'),
  },
  (table) => [
    primaryKey({ columns: [table.reconciliationId, table.number] }),
    index('reconciliation_differences_repair')
      .on(table.repairTransactionId)
      .where(sql`${table.repairTransactionId} is not null`),
    index('reconciliation_differences_missing')
      .on(table.playerId)
      .where(sql`${table.kind} = 'missing_here' and ${table.state} <> 'applied'`),
  ],
);

/** Dry runs: what the ledger would decide about repairs. */
export const reconciliationDryRuns = pgTable('reconciliation_dry_runs', {
  dryRunId: newId('dry_run_id').primaryKey(),
  reconciliationId: uuid('reconciliation_id').notNull(),
  createdAt: dateColumn('created_at').notNull(),
  createdBy: text('created_by').notNull(),
  /** Array of `RepairResult`, in the order in which the repairs are made. */
  repairs: jsonb().notNull(),
  approvedBy: text('approved_by'),
  approvedAt: dateColumn('approved_at'),
});
