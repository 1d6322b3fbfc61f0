import { dateColumn } from '@platform/service-kit/columns';
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  date,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { addedAt, fromZero, minor, newId } from './columns.ts';

/** Idempotency keys. */
export { idempotencyKeys } from '@platform/service-kit/idempotency';
/** Games, launches, sessions, adjustments, and limits of players. */
export * from './accounts.ts';
/** Comparisons with statements of the game server. */
export * from './reconciliations.ts';
/** Refused callbacks, checkpoints over the ledger, account summaries. */
export * from './reporting.ts';

/** SQL: the text that a search of players matches. The index has the same expression. */
export const playerSearchText = `casefold((player_id || chr(31) || coalesce(name, '')) collate "pg_unicode_fast")`;

/** Players, each with the balance and the sequence number of the newest entry, and the counters of limits. */
export const players = pgTable(
  'players',
  {
    playerId: text('player_id').primaryKey(),
    currency: text().notNull(),
    balance: fromZero('balance'),
    /** Sequence number of the newest entry; 0 before the first. */
    seq: fromZero('seq'),
    status: text({ enum: ['active', 'disabled'] })
      .notNull()
      .default('active'),
    /** The player is excluded until this time; `infinity`: without end; null: never excluded. */
    excludedUntil: timestamp('excluded_until', { withTimezone: true, mode: 'string' }),
    name: text(),
    countryCode: text('country_code'),
    languageCode: text('language_code'),
    birthDate: date('birth_date'),
    /** Null: the day on which the player was added here. */
    registrationDate: date('registration_date'),
    address: text(),
    createdAt: addedAt('created_at'),
    /** IANA name, for limits of a month and exclusions; null: UTC. */
    timeZone: text('time_zone'),
    /** Start of the month of limits when the time zone was last changed, so that the month does not begin again. */
    monthSince: dateColumn('month_since'),
    /**
     * The time of the newest entry or decision by limits. A batch that began earlier uses this time, so that times are in
     * the order of the entries, and no period begins after one of its entries.
     */
    decidedAt: dateColumn('decided_at'),
    // The counters of limits (limits/domain.ts). All are null for a player whose bets no limit concerns.
    /** Sum of the debits that were not reversed, since counting began. `limitWindows` has its value at the start of each period. */
    wagered: minor('wagered'),
    /** `wagered` minus the credits. */
    lost: minor('lost'),
    /** Before `limitsUntil`, debits may raise `wagered` and `lost` up to these. */
    wageredCap: minor('wagered_cap'),
    lostCap: minor('lost_cap'),
    limitsUntil: dateColumn('limits_until'),
  },
  (table) => [
    check('players_balance', sql`${table.balance} >= 0`),
    check('players_seq', sql`${table.seq} >= 0`),
    // Without the id, so that no plan uses it to look up players.
    index('players_created').on(table.createdAt),
    index('players_currency').on(table.currency, table.createdAt),
    index('players_disabled')
      .on(table.createdAt)
      .where(sql`${table.status} = 'disabled'`),
    index('players_excluded')
      .on(table.createdAt)
      .where(sql`${table.excludedUntil} is not null`),
    index('players_search').using('gin', sql`(${sql.raw(playerSearchText)}) gin_trgm_ops`),
  ],
);

/** The ledger. A trigger refuses everything except new rows. */
export const entries = pgTable(
  'entries',
  {
    playerId: text('player_id').notNull(),
    /** 1, 2, 3, … for each player, without gaps. */
    seq: minor('seq').notNull(),
    operation: text({
      enum: ['debit', 'credit', 'rollback', 'deposit', 'withdrawal', 'adjustment', 'tombstone'],
    }).notNull(),
    /** Unique within `idSpace`, forever. A tombstone holds the id of a debit that was rolled back before it arrived. */
    transactionId: text('transaction_id').notNull(),
    roundId: text('round_id'),
    gameCode: text('game_code'),
    /** Signed: the change of the balance. */
    amount: minor('amount').notNull(),
    balanceAfter: minor('balance_after').notNull(),
    /** The transaction that a rollback reverses. */
    reverses: text(),
    /** As in the request; null when the operation has no such field. */
    roundClosed: boolean('round_closed'),
    at: dateColumn('at').notNull(),
    /** Who chose the transaction id, and where it is unique (`idSpaceOf` in ledger/command.ts). */
    idSpace: text('id_space').notNull(),
    /** The round in the request of a rollback, if it is not the round of the debit; `roundId` is that of the debit. */
    namedRoundId: text('named_round_id'),
    /** Text of the caller (ledger/metadata.ts). */
    metadata: text(),
  },
  (table) => [
    primaryKey({ columns: [table.playerId, table.seq] }),
    uniqueIndex('entries_transaction').on(table.transactionId, table.idSpace),
    // The database itself refuses a second reversal of a debit.
    uniqueIndex('entries_reversal')
      .on(table.reverses, table.idSpace)
      .where(sql`${table.operation} = 'rollback' and ${table.amount} > 0`),
    // Sums of deposits for their limits.
    index('entries_deposits')
      .on(table.playerId, table.at)
      .where(sql`${table.operation} = 'deposit'`),
    // For totals of days. A BRIN index takes only a few kilobytes, because entries are written in the order of time.
    index('entries_at').using('brin', table.at).with({ autosummarize: true }),
    check('entries_balance_after', sql`${table.balanceAfter} >= 0`),
    check(
      'entries_amount',
      sql`case ${table.operation}
        when 'debit' then ${table.amount} <= 0
        when 'withdrawal' then ${table.amount} < 0
        when 'adjustment' then ${table.amount} <> 0
        when 'tombstone' then ${table.amount} = 0
        else ${table.amount} >= 0 end`,
    ),
  ],
);

/** Rounds belong to a player. The first debit or credit opens a round; it is closed once. */
export const rounds = pgTable(
  'rounds',
  {
    playerId: text('player_id').notNull(),
    roundId: text('round_id').notNull(),
    gameCode: text('game_code').notNull(),
    openedAt: dateColumn('opened_at').notNull(),
    closedAt: dateColumn('closed_at'),
    /** Sequence number of the entry that opened it. Earlier entries of the round are tombstones and rollbacks of 0. */
    openedSeq: minor('opened_seq')
      .notNull()
      .default(sql`1`),
    /** Whether a win opened it and no bet followed on that day: a free round, a jackpot or another gift. */
    promotional: boolean().notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.playerId, table.roundId] }),
    index('rounds_open')
      .on(table.openedAt)
      .where(sql`${table.closedAt} is null`),
    // For the account summary. Few rounds are promotional.
    index('rounds_promotional')
      .on(table.openedAt)
      .where(sql`${table.promotional}`),
    // A Bloom filter for each 32 pages, so that opening a round does not write to the index. players_of_round reads it.
    index('rounds_id')
      .using('brin', sql`round_id text_bloom_ops(n_distinct_per_range = 3000)`)
      .with({ pages_per_range: 32, autosummarize: true }),
  ],
);

/** Settings that existing entries depend on. Written at the first start; a trigger refuses changes. */
export const ledgerSettings = pgTable('ledger_settings', {
  name: text().primaryKey(),
  value: text().notNull(),
});

export const auditKinds = [
  'callback',
  'player_created',
  'player_changed',
  'limits_changed',
  'transfer_requested',
  'adjustment_requested',
  'adjustment_approved',
  'game_created',
  'game_changed',
  'launch_refused',
  'sessions_ended',
  'reconciliation_requested',
  'reconciliation_withdrawn',
  'reconciliation_dry_run',
  'reconciliation_dry_run_approved',
  'reconciliation_repair_requested',
  'reconciliation_repair_decided',
] as const;

/** The audit trail: exclusions, late reversals, refused wins, and actions of people. */
export const auditEvents = pgTable(
  'audit_events',
  {
    eventId: newId('event_id').primaryKey(),
    at: dateColumn('at').notNull(),
    kind: text({ enum: auditKinds }).notNull(),
    playerId: text('player_id'),
    details: jsonb().$type<Record<string, unknown>>().notNull(),
  },
  (table) => [
    index('audit_events_player').on(table.playerId, table.eventId),
    index('audit_events_kind').on(table.kind, table.eventId),
  ],
);
