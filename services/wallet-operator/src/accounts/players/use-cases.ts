import { pageListJson, pageOf, slice, type Page, type Slice } from '@platform/pagination/list';
import { Conflict, NotFound, ValidationFailed } from '@platform/service-kit/problem';
import { inTransaction, type Queries } from '@platform/service-kit/record';
import type { z } from 'zod';
import { decimal } from '@platform/wallet-protocol/money';
import { recordEvent } from '../../reporting/audit/use-cases.ts';
import type { Context } from '../../context.ts';
import { currencyOf } from '../../ledger/domain.ts';
import type {
  Entry,
  EntryQuery,
  FoundEntry,
  NewPlayer,
  Player,
  PlayerChange,
  PlayerPath,
  PlayerQuery,
} from './schema.ts';
import {
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

type PlayerView = z.input<typeof Player>;
type EntryView = z.input<typeof Entry>;
type FoundEntryView = z.input<typeof FoundEntry>;

const view = ({ seq: _seq, ...row }: PlayerRow): PlayerView => ({
  ...row,
  balance: decimal(row.balance),
});

const entryView = ({ reverses, ...entry }: ShownEntry): FoundEntryView => ({
  playerId: entry.playerId,
  seq: Number(entry.seq),
  operation: entry.operation,
  transactionId: entry.transactionId,
  roundId: entry.roundId,
  gameCode: entry.gameCode,
  amount: decimal(entry.amount),
  currency: entry.currency,
  balanceAfter: decimal(entry.balanceAfter),
  reverseTransactionId: reverses,
  at: entry.at,
  promotional: entry.promotional,
});

interface OnePlayer {
  params: z.output<typeof PlayerPath>;
}
interface Writer {
  caller: { subject: string };
}

const checkTimeZone = async (
  sql: Queries,
  { timeZone }: { timeZone?: string | null | undefined },
): Promise<void> => {
  if (timeZone && !(await isTimeZone(sql, timeZone)))
    throw new ValidationFailed({ timeZone: ['must be an IANA time zone such as Europe/Berlin'] });
};

const jsonOf = (row: PlayerRow): string => JSON.stringify(view(row));

/** What `record()` does with players. */
export const playersOf = ({ database: { sql } }: Context) => ({
  page: async (query: z.output<typeof PlayerQuery>) => {
    const page = pageOf(query);
    return pageListJson('players', page, slice((await listPlayers(sql, page)).map(jsonOf), page.limit));
  },
  find: async (on: Queries, { params: { playerId } }: OnePlayer, lock: boolean) => {
    const row = await findPlayer(on, playerId, lock);
    return row && jsonOf(row);
  },
  /** Throws Conflict `player_exists`. */
  insert: (on: Queries, input: z.output<typeof NewPlayer>, { caller: { subject: by } }: Writer) =>
    inTransaction(on, async (tx) => {
      await checkTimeZone(tx, input);
      const row = await insertPlayer(tx, { ...input, currency: currencyOf(input.currency) });
      if (row === undefined) throw new Conflict('player_exists', 'There is a player of that id already.');
      const { playerId, currency } = row;
      await recordEvent(tx, { kind: 'player_created', playerId, details: { by, currency } });
      return { id: playerId, json: jsonOf(row) };
    }),
  save: async (
    on: Queries,
    change: z.output<typeof PlayerChange>,
    { params: { playerId }, caller: { subject: by } }: OnePlayer & Writer,
  ) => {
    await checkTimeZone(on, change);
    const row = await updatePlayer(on, playerId, change);
    const { status, excluded, excludedUntil: until } = row;
    if (change.excluded && !excluded)
      throw new ValidationFailed({ excludedUntil: ['must not be a day that is over'] });
    // The audit trail names the changed personal fields, without their values.
    const details = { by, fields: Object.keys(change), status, excluded, until };
    await recordEvent(on, { kind: 'player_changed', playerId, details });
    return jsonOf(row);
  },
});

/** The stored row. Throws NotFound. */
export const playerRow = async ({ database }: Context, playerId: string): Promise<PlayerRow> => {
  const row = await findPlayer(database.sql, playerId);
  if (row === undefined) throw new NotFound('player');
  return row;
};

export const pageEntries = async (
  ctx: Context,
  playerId: string,
  { sort }: Pick<z.output<typeof EntryQuery>, 'sort'>,
  page: Page,
): Promise<Slice<EntryView>> => {
  const { seq } = await playerRow(ctx, playerId);
  const rows = await listEntries(ctx.database.sql, playerId, page, sort === '-seq' ? BigInt(seq) : undefined);
  return slice(rows.map(entryView), page.limit);
};

export const pageTransaction = async (
  ctx: Context,
  transactionId: string,
  page: Page,
): Promise<Slice<FoundEntryView>> =>
  slice((await entriesOfTransaction(ctx.database.sql, transactionId, page)).map(entryView), page.limit);

export const roundEntries = async (
  ctx: Context,
  playerId: string,
  roundId: string,
  page: Page,
): Promise<Slice<EntryView>> =>
  slice((await entriesOfRound(ctx.database.sql, playerId, roundId, page)).map(entryView), page.limit);
