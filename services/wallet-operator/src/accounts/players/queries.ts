import type { Page } from '@platform/pagination/list';
import type { Executor } from '@platform/service-kit/db';
import { asc, eq, sql as raw } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { SealedEntry } from '@platform/sealed-log/entry';
import type { Sql } from 'postgres';
import { players } from '../../db/tables.ts';
import { entryColumns } from '../../ledger/entry.ts';

export type PlayerRow = typeof players.$inferSelect;
export type NewPlayerRow = typeof players.$inferInsert;

/** Returns undefined when a player with this id exists. */
export const insertPlayer = async (
  orm: Pick<PostgresJsDatabase, 'insert'>,
  row: NewPlayerRow,
): Promise<PlayerRow | undefined> => {
  const [player] = await orm.insert(players).values(row).onConflictDoNothing().returning();
  return player;
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
  const zones = await orm.execute(raw`select from pg_timezone_names where name = ${name}`);
  return zones.length > 0;
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

/** An entry as people read it. */
export interface ShownEntry extends SealedEntry {
  currency: string;
  promotional: boolean;
}

const selectEntries = (sql: Sql) => sql`
  select ${entryColumns(sql, 'e')}, p.currency,
    coalesce(r.promotional and r.opened_seq = e.seq, false) as promotional
  from entries e join players p on p.player_id = e.player_id
    left join rounds r on r.player_id = e.player_id and r.round_id = e.round_id`;

/**
 * Entries of a player, one more than the page holds. Numbers have no gaps, so any page is found at once.
 * @param newest number of the newest entry: then the newest come first, otherwise the oldest
 */
export const listEntries = (sql: Sql, playerId: string, { limit, offset }: Page, newest?: bigint) => {
  const last = newest === undefined ? offset + BigInt(limit) + 1n : newest - offset;
  const order = newest === undefined ? sql`asc` : sql`desc`;
  return sql<ShownEntry[]>`
    ${selectEntries(sql)}
    where e.player_id = ${playerId} and e.seq > ${String(last - BigInt(limit) - 1n)} and e.seq <= ${String(last)}
    order by e.seq ${order}`;
};

/** Of one round, in order. */
export const entriesOfRound = (sql: Sql, playerId: string, roundId: string) => sql<ShownEntry[]>`
  ${selectEntries(sql)} where e.player_id = ${playerId} and e.round_id = ${roundId} order by e.seq`;

/** The entry with this transaction id in each id space, and what reversed it; one more than the page holds. */
export const entriesOfTransaction = (sql: Sql, transactionId: string, { limit, offset }: Page) => sql<
  ShownEntry[]
>`
  ${selectEntries(sql)}
  where e.transaction_id = ${transactionId}
    or (e.reverses = ${transactionId} and e.operation = 'rollback' and e.amount > 0)
  order by e.player_id, e.seq limit ${limit + 1} offset ${String(offset)}`;
