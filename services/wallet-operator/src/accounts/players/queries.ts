import type { Page } from '@platform/pagination/list';
import type { Executor } from '@platform/service-kit/db';
import { asc, eq, getTableColumns, sql as raw, type SQL } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { SealedEntry } from '@platform/sealed-log/entry';
import type { Sql } from 'postgres';
import type { z } from 'zod';
import { players } from '../../db/tables.ts';
import { entryColumns } from '../../ledger/entry.ts';
import { lastExcludedDay } from '../../ledger/exclusion.ts';
import type { PlayerChange } from './schema.ts';

/** Columns of a player as people read them. */
const playerColumns = {
  ...getTableColumns(players),
  excluded: raw<boolean>`coalesce(${players.excludedUntil} > now(), false)`,
  excludedUntil: raw<string | null>`${raw.raw(lastExcludedDay('players'))}`,
};

export type PlayerRow = Omit<typeof players.$inferSelect, 'excludedUntil'> & {
  /** Whether an exclusion holds now. */
  excluded: boolean;
  /** Its last day in the player's time zone. */
  excludedUntil: string | null;
};
export type NewPlayerRow = typeof players.$inferInsert;

/** Returns undefined when a player with this id exists. */
export const insertPlayer = async (
  orm: Pick<PostgresJsDatabase, 'insert'>,
  row: Omit<NewPlayerRow, 'createdAt'>,
): Promise<PlayerRow | undefined> => {
  const [player] = await orm
    .insert(players)
    .values({ ...row, createdAt: raw`clock_timestamp()` })
    .onConflictDoNothing()
    .returning(playerColumns);
  return player;
};

export const findPlayer = async (
  orm: PostgresJsDatabase,
  playerId: string,
): Promise<PlayerRow | undefined> => {
  const [row] = await orm.select(playerColumns).from(players).where(eq(players.playerId, playerId));
  return row;
};

/** Whether PostgreSQL has a time zone of this name. */
export const isTimeZone = async (orm: Pick<Executor, 'execute'>, name: string): Promise<boolean> => {
  const zones = await orm.execute(raw`select from pg_timezone_names where name = ${name}`);
  return zones.length > 0;
};

type ExclusionChange = Pick<z.output<typeof PlayerChange>, 'excluded' | 'excludedUntil'>;

/** The end of the exclusion that is asked for; `-infinity` asks for its end, undefined for no change. */
const wantedEnd = ({ excluded, excludedUntil }: ExclusionChange, timeZone: SQL): SQL | undefined => {
  const current = raw`${players.excludedUntil} > now()`;
  if (excluded === false) return raw`'-infinity'`;
  // The last instant of the day is unambiguous where its midnight occurs twice.
  if (typeof excludedUntil === 'string')
    return raw`(${excludedUntil}::date + 1 - interval '1 microsecond') at time zone ${timeZone} + interval '1 microsecond'`;
  if (excludedUntil === null)
    return raw`case when ${excluded === true} or ${current} then 'infinity' else ${players.excludedUntil} end`;
  return excluded ? raw`case when ${current} then ${players.excludedUntil} else 'infinity' end` : undefined;
};

/** An exclusion that holds ends in 24 hours at the earliest, whatever is asked for. */
const excludedUntilAfter = (change: ExclusionChange, timeZone: SQL): SQL | undefined => {
  const wanted = wantedEnd(change, timeZone);
  const earliest = raw`least(coalesce(${players.excludedUntil}, '-infinity'), now() + interval '24 hours')`;
  return wanted && raw`nullif(greatest(${wanted}, ${earliest}), '-infinity')`;
};

/** Balance, seq and the counters of limits belong to the ledger. */
export const updatePlayer = async (
  orm: Pick<PostgresJsDatabase, 'update'>,
  playerId: string,
  { excluded, excludedUntil: lastDay, ...change }: z.output<typeof PlayerChange>,
): Promise<PlayerRow | undefined> => {
  const timeZone = raw`coalesce(${change.timeZone === undefined ? players.timeZone : change.timeZone}::text, 'UTC')`;
  const excludedUntil = excludedUntilAfter({ excluded, excludedUntil: lastDay }, timeZone);
  // An empty change still finds the row.
  const [row] = await orm
    .update(players)
    .set({ playerId: raw`${players.playerId}`, ...change, ...(excludedUntil && { excludedUntil }) })
    .where(eq(players.playerId, playerId))
    .returning(playerColumns);
  return row;
};

/** One more than the page holds, the oldest first. */
export const listPlayers = (orm: PostgresJsDatabase, { limit, offset }: Page): Promise<PlayerRow[]> =>
  orm
    .select(playerColumns)
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

/** Of one round, in order; one more than the page holds. */
export const entriesOfRound = (sql: Sql, playerId: string, roundId: string, { limit, offset }: Page) => sql<
  ShownEntry[]
>`
  ${selectEntries(sql)} where e.player_id = ${playerId} and e.round_id = ${roundId}
  order by e.seq limit ${limit + 1} offset ${String(offset)}`;

/** The entry with this transaction id in each id space, and what reversed it; one more than the page holds. */
export const entriesOfTransaction = (sql: Sql, transactionId: string, { limit, offset }: Page) => sql<
  ShownEntry[]
>`
  ${selectEntries(sql)}
  where e.transaction_id = ${transactionId}
    or (e.reverses = ${transactionId} and e.operation = 'rollback' and e.amount > 0)
  order by e.player_id, e.seq limit ${limit + 1} offset ${String(offset)}`;
