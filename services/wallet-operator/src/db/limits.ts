import { dateColumn } from '@platform/service-kit/columns';
import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { minor, newId } from './columns.ts';

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
