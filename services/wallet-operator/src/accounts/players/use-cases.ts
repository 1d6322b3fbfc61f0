import type { Caller } from '@platform/auth/bearer';
import { pageListJson, pageOf, slice, type Page } from '@platform/pagination/list';
import { Conflict, ValidationFailed } from '@platform/service-kit/problem';
import { inTransaction, type Queries, type Target } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { isCut } from '../../ledger/metadata.ts';
import { decimal } from '@platform/wallet-protocol/money';
import { recordEvent } from '../../reporting/audit/use-cases.ts';
import type { Context } from '../../context.ts';
import { readOnListConnection } from '../../db/list-connection.ts';
import { supportedCurrency } from '../currencies/use-cases.ts';
import type {
  EntryFilter,
  FoundEntry,
  NewPlayer,
  Player,
  PlayerChange,
  PlayerPath,
  PlayerQuery,
} from './schema.ts';
import {
  endSessions,
  entriesOfRound,
  entriesOfTransaction,
  findPlayer,
  insertPlayer,
  isTimeZone,
  listEntries,
  listPlayers,
  updatePlayer,
  type ShownEntry,
  type PlayerRow,
} from './queries.ts';

const jsonOf = ({ seq: _seq, ...row }: PlayerRow): string => {
  const player: z.input<typeof Player> = { ...row, balance: decimal(row.balance) };
  return JSON.stringify(player);
};

type EntryView = z.input<typeof FoundEntry>;

const entryView = ({ reverses, ...entry }: ShownEntry): EntryView => ({
  ...entry,
  seq: Number(entry.seq),
  amount: decimal(entry.amount),
  balanceAfter: decimal(entry.balanceAfter),
  metadataCut: isCut(entry.metadata),
  reverseTransactionId: reverses,
});

const checkTimeZone = async (
  sql: Queries,
  { timeZone }: { timeZone?: string | null | undefined },
): Promise<void> => {
  if (timeZone && !(await isTimeZone(sql, timeZone)))
    throw new ValidationFailed({ timeZone: ['must be an IANA time zone such as Europe/Berlin'] });
};

/** What `record()` does with players. */
export const playersOf = (ctx: Context) => ({
  page: async (query: z.output<typeof PlayerQuery>) => {
    const page = pageOf(query);
    const read = (on: ISql) => listPlayers(on, query, page);
    const rows = await readOnListConnection(ctx, page, read, query.q !== undefined);
    return pageListJson('players', page, slice(rows.map(jsonOf), page.limit));
  },
  find: async (on: Queries, { params: { playerId } }: Target<typeof PlayerPath, unknown>, lock: boolean) => {
    const row = await findPlayer(on, playerId, lock);
    return row && jsonOf(row);
  },
  /** Throws Conflict `player_exists`, and the errors of `supportedCurrency`. */
  insert: async (
    on: Queries,
    input: z.output<typeof NewPlayer>,
    { caller: { subject: by } }: { caller: Caller },
  ) => {
    // Before the transaction: Redis may take a while to answer.
    const player = { ...input, currency: await supportedCurrency(ctx, input.currency) };
    return inTransaction(on, async (tx) => {
      await checkTimeZone(tx, player);
      const row = await insertPlayer(tx, player);
      if (row === undefined) throw new Conflict('player_exists', 'A player with this id exists already.');
      const { playerId, currency } = row;
      await recordEvent(tx, { kind: 'player_created', playerId, details: { by, currency } });
      return { id: playerId, json: jsonOf(row) };
    });
  },
  save: async (
    on: Queries,
    change: z.output<typeof PlayerChange>,
    { params: { playerId }, caller: { subject: by } }: Target<typeof PlayerPath, Caller>,
  ) => {
    await checkTimeZone(on, change);
    const row = await updatePlayer(on, playerId, change);
    const { status, excluded, excludedUntil: until } = row;
    if (change.excluded && !excluded)
      throw new ValidationFailed({ excludedUntil: ['must not be in the past'] });
    // The audit trail names the changed personal fields, without their values.
    const details = { by, fields: Object.keys(change), status, excluded, until };
    await recordEvent(on, { kind: 'player_changed', playerId, details });
    if (status === 'disabled') await endSessions(on, playerId);
    return jsonOf(row);
  },
});

/** The stored row. Throws NotFound. */
export const playerRow = async ({ database }: Context, playerId: string): Promise<PlayerRow> =>
  orNotFound(await findPlayer(database.sql, playerId), 'player');

/** Locks a player until the transaction ends. Throws NotFound. */
export const lockPlayer = async (tx: Queries, playerId: string): Promise<void> => {
  orNotFound(await findPlayer(tx, playerId, true), 'player');
};

/** Ends all sessions of a locked player, or one of them. */
export const endSessionsOf = async (
  tx: Queries,
  { playerId, sessionId, by }: { playerId: string; sessionId?: string; by: string },
): Promise<void> => {
  await endSessions(tx, playerId, sessionId);
  await recordEvent(tx, { kind: 'sessions_ended', playerId, details: { by, sessionId } });
};

/** The entries of a player, one more than the page holds. Throws NotFound. */
export const playerEntries = async (
  ctx: Context,
  playerId: string,
  { sort }: z.output<typeof EntryFilter>,
  page: Page,
): Promise<EntryView[]> => {
  const { seq } = await playerRow(ctx, playerId);
  const newest = sort === '-seq' ? BigInt(seq) : undefined;
  return (await listEntries(ctx.database.sql, playerId, page, newest)).map(entryView);
};

/** The entries with a transaction id, of any player, and their reversals; one more than the page holds. */
export const transactionEntries = async (
  { database: { sql } }: Context,
  transactionId: string,
  page: Page,
): Promise<EntryView[]> => (await entriesOfTransaction(sql, transactionId, page)).map(entryView);

/** The entries of one round of a player, one more than the page holds. */
export const roundEntries = async (
  { database: { sql } }: Context,
  playerId: string,
  roundId: string,
  page: Page,
): Promise<EntryView[]> => (await entriesOfRound(sql, playerId, roundId, page)).map(entryView);
