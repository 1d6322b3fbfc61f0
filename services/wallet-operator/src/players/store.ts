import type { Page } from '@platform/pagination/page-limit';
import type { Executor } from '@platform/service-kit/db';
import { asc, eq, sql as raw } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Sql } from 'postgres';
import { players } from '../db/tables.ts';

export type PlayerRow = typeof players.$inferSelect;
export type NewPlayerRow = typeof players.$inferInsert;

/** Returns undefined when a player with this id exists. */
export const insertPlayer = async (
  orm: Pick<PostgresJsDatabase, 'insert'>,
  row: NewPlayerRow,
): Promise<PlayerRow | undefined> => {
  const [made] = await orm.insert(players).values(row).onConflictDoNothing().returning();
  return made;
};

export const findPlayer = async (
  orm: PostgresJsDatabase,
  playerId: string,
): Promise<PlayerRow | undefined> => {
  const [row] = await orm.select().from(players).where(eq(players.playerId, playerId));
  return row;
};

/** Whether PostgreSQL has a time zone of this name. */
export const isTimeZone = async (orm: Pick<Executor, 'execute'>, name: string): Promise<boolean> => {
  const found = await orm.execute(raw`select from pg_timezone_names where name = ${name}`);
  return found.length > 0;
};

/** Never changes what only the ledger writes: balance, seq and the counters of limits. */
export const updatePlayer = async (
  orm: Pick<PostgresJsDatabase, 'update'>,
  playerId: string,
  change: Partial<
    Omit<
      PlayerRow,
      | 'playerId'
      | 'balance'
      | 'seq'
      | 'currency'
      | 'wagered'
      | 'lost'
      | 'wageredCap'
      | 'lostCap'
      | 'limitsUntil'
    >
  >,
): Promise<PlayerRow | undefined> => {
  // An empty change still finds the row.
  const [row] = await orm
    .update(players)
    .set({ playerId: raw`${players.playerId}`, ...change })
    .where(eq(players.playerId, playerId))
    .returning();
  return row;
};

/** One more than the page holds, the oldest first. */
export const listPlayers = (orm: PostgresJsDatabase, { limit, offset }: Page): Promise<PlayerRow[]> =>
  orm
    .select()
    .from(players)
    .orderBy(asc(players.createdAt), asc(players.playerId))
    .limit(limit + 1)
    .offset(Number(offset));

export interface EntryRow {
  seq: string;
  operation: 'debit' | 'credit' | 'rollback' | 'deposit' | 'withdrawal' | 'tombstone';
  transactionId: string;
  roundId: string | null;
  gameCode: string | null;
  amount: string;
  balanceAfter: string;
  reverses: string | null;
  at: string;
}

/** One more than the page holds. Sequence numbers have no gaps, so any page is found at once. */
export const listEntries = (sql: Sql, playerId: string, { limit, offset }: Page) => sql<EntryRow[]>`
  select seq, operation, transaction_id as "transactionId", round_id as "roundId", game_code as "gameCode", amount,
    balance_after as "balanceAfter", reverses, at
  from entries where player_id = ${playerId} and seq > ${String(offset)} and seq <= ${String(offset + BigInt(limit) + 1n)}
  order by seq`;

/** Of one round, in order. */
export const entriesOfRound = (sql: Sql, playerId: string, roundId: string) => sql<EntryRow[]>`
  select seq, operation, transaction_id as "transactionId", round_id as "roundId", game_code as "gameCode", amount,
    balance_after as "balanceAfter", reverses, at
  from entries where player_id = ${playerId} and round_id = ${roundId} order by seq`;

/** The entry with this transaction id in each id space, and what reversed it; one more than the page holds. */
export const entriesOfTransaction = (sql: Sql, transactionId: string, { limit, offset }: Page) => sql<
  (EntryRow & { playerId: string })[]
>`
  select player_id as "playerId", seq, operation, transaction_id as "transactionId", round_id as "roundId",
    game_code as "gameCode", amount, balance_after as "balanceAfter", reverses, at
  from entries where transaction_id = ${transactionId}
    or (reverses = ${transactionId} and operation = 'rollback' and amount > 0)
  order by player_id, seq limit ${limit + 1} offset ${String(offset)}`;
