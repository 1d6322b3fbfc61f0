import { dateColumn } from '@platform/service-kit/columns';
import { boolean, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { addedAt, minor, newId } from './columns.ts';

/**
 * All changes of limits; a trigger refuses updates except cancelling. For each kind, period and setter the newest change that
 * is effective and not cancelled is in force; a change that is not effective yet is pending.
 */
export const limitChanges = pgTable(
  'limit_changes',
  {
    changeId: newId('change_id').notNull(),
    playerId: text('player_id').notNull(),
    kind: text({ enum: ['deposit', 'wager', 'loss', 'session'] }).notNull(),
    period: text({ enum: ['24h', '7d', 'month', 'session'] }).notNull(),
    setBy: text('set_by', { enum: ['player', 'operator'] }).notNull(),
    /** Minor units, or minutes of a session; null: the limit ends. */
    value: minor('value'),
    changedAt: dateColumn('changed_at').notNull(),
    effectiveAt: dateColumn('effective_at').notNull(),
    cancelledAt: dateColumn('cancelled_at'),
    /** Subject of the access token. */
    changedBy: text('changed_by').notNull(),
  },
  (table) => [primaryKey({ columns: [table.playerId, table.changeId] })],
);

/** The start of each period of players with counters, and the sums of the counted entries before it. */
export const limitWindows = pgTable(
  'limit_windows',
  {
    playerId: text('player_id').notNull(),
    period: text({ enum: ['24h', '7d', 'month', 'session'] }).notNull(),
    since: dateColumn('since').notNull(),
    /** Sequence number of the last entry before the period. */
    afterSeq: minor('after_seq').notNull(),
    /** `players.wagered` and `players.lost` after the entry `afterSeq`. */
    wagered: minor('wagered').notNull(),
    lost: minor('lost').notNull(),
  },
  (table) => [primaryKey({ columns: [table.playerId, table.period] })],
);

export const games = pgTable('games', {
  gameCode: text('game_code').primaryKey(),
  name: text().notNull(),
  enabled: boolean().notNull(),
  createdAt: dateColumn('created_at').notNull(),
  /** When the game was last disabled; ends all earlier sessions without a write to each of them. */
  disabledAt: dateColumn('disabled_at'),
});

/** All requested launches and their outcomes. */
export const launches = pgTable(
  'launches',
  {
    launchId: newId('launch_id').primaryKey(),
    playerId: text('player_id').notNull(),
    gameCode: text('game_code').notNull(),
    /** Subject of the access token. */
    launchedBy: text('launched_by').notNull(),
    /** `started`, `launched`, or the code of the refusal. */
    outcome: text().notNull(),
    createdAt: addedAt('created_at'),
  },
  (table) => [
    index('launches_player').on(table.playerId, table.launchId),
    index('launches_game').on(table.gameCode, table.launchId),
    index('launches_outcome').on(table.outcome, table.launchId),
    index('launches_game_outcome').on(table.gameCode, table.outcome, table.launchId),
  ],
);

/** Sessions created by launches. Only the hash of the token is stored. */
export const sessions = pgTable(
  'sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    playerId: text('player_id').notNull(),
    gameCode: text('game_code').notNull(),
    createdAt: dateColumn('created_at').notNull(),
    expiresAt: dateColumn('expires_at').notNull(),
    /** Id of the launch; not a credential. */
    sessionId: newId('session_id').notNull(),
  },
  (table) => [
    // Old sessions are deleted in the background. No index has `expires_at`, so that moving it writes to none.
    index('sessions_created').on(table.createdAt),
    uniqueIndex('sessions_player').on(table.playerId, table.sessionId),
  ],
);

/** Reasons for adjustments. */
export const adjustmentReasons = ['bonus', 'correction', 'goodwill'] as const;

/** Requested adjustments: booked, refused, or waiting for the approval of a second person. */
export const adjustments = pgTable(
  'adjustments',
  {
    playerId: text('player_id').notNull(),
    transactionId: text('transaction_id').notNull(),
    amount: minor('amount').notNull(),
    reason: text({ enum: adjustmentReasons }).notNull(),
    note: text().notNull(),
    /** Subjects of the access tokens. */
    requestedBy: text('requested_by').notNull(),
    approvedBy: text('approved_by'),
    approvedAt: dateColumn('approved_at'),
    /** When the adjustment was sent to the ledger; null: not yet, or the ledger refused it. */
    movedAt: dateColumn('moved_at'),
  },
  (table) => [
    primaryKey({ columns: [table.playerId, table.transactionId] }),
    index('adjustments_moved').on(table.movedAt),
  ],
);
