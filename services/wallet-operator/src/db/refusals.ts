import { index, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { minor, newId } from './columns.ts';

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
