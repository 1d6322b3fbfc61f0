import { dateColumn } from '@platform/service-kit/columns';
import { boolean, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { addedAt, minor, newId } from './columns.ts';

/**
 * Every limit that was ever asked for; a trigger refuses every change except cancelling. The one in force is the newest
 * that is effective and not cancelled, for each kind, period and setter; one that is not effective yet is pending.
 */
export const limitChanges = pgTable(
  'limit_changes',
  {
    changeId: newId('change_id').notNull(),
    playerId: text('player_id').notNull(),
    kind: text({ enum: ['deposit', 'wager', 'loss', 'session'] }).notNull(),
    period: text({ enum: ['24h', '7d', 'month', 'session'] }).notNull(),
    setBy: text('set_by', { enum: ['player', 'operator'] }).notNull(),
    /** Minor units, or minutes of a session; null: no limit. */
    value: minor('value'),
    changedAt: dateColumn('changed_at').notNull(),
    effectiveAt: dateColumn('effective_at').notNull(),
    cancelledAt: dateColumn('cancelled_at'),
    /** Subject of the access token. */
    changedBy: text('changed_by').notNull(),
  },
  (table) => [primaryKey({ columns: [table.playerId, table.changeId] })],
);

/** Where the periods of players with counters begin: the sums of the counted entries before them. */
export const limitWindows = pgTable(
  'limit_windows',
  {
    playerId: text('player_id').notNull(),
    period: text({ enum: ['24h', '7d', 'month', 'session'] }).notNull(),
    since: dateColumn('since').notNull(),
    /** Number of the last entry before the period. */
    afterSeq: minor('after_seq').notNull(),
    /** As `players.wagered` and `players.lost`, of the entries up to `afterSeq`. */
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
  /** When the game was last disabled: sessions from before it have ended. One value instead of a write to each of them. */
  disabledAt: dateColumn('disabled_at'),
});

/** Every launch that was asked for, and what became of it. */
export const launches = pgTable(
  'launches',
  {
    /** By time. */
    launchId: newId('launch_id').primaryKey(),
    playerId: text('player_id').notNull(),
    gameCode: text('game_code').notNull(),
    /** The subject of the access token. */
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
    /** The id of its launch, by which people name it. */
    sessionId: newId('session_id').notNull(),
  },
  (table) => [
    // Old sessions are deleted in the background. No index has `expires_at`, so that moving it writes to none.
    index('sessions_created').on(table.createdAt),
    uniqueIndex('sessions_player').on(table.playerId, table.sessionId),
  ],
);

/** Why an adjustment is made. */
export const adjustmentReasons = ['bonus', 'correction', 'goodwill'] as const;

/** Adjustments that were made, or wait for the approval of a second person. */
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
    /** When the ledger was asked to move the money; null: never, or it refused. */
    movedAt: dateColumn('moved_at'),
  },
  (table) => [
    primaryKey({ columns: [table.playerId, table.transactionId] }),
    index('adjustments_moved').on(table.movedAt),
  ],
);
