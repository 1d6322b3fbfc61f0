import { type Page, type Slice, slice } from '@platform/pagination/list';
import { Conflict, NotFound, ValidationFailed } from '@platform/service-kit/problem';
import type { z } from 'zod';
import { recordEvent } from '../../reporting/audit/use-cases.ts';
import type { Context } from '../../context.ts';
import { currencyOf } from '../../ledger/domain.ts';
import { decimal } from '@platform/wallet-protocol/money';
import type { Entry, EntryQuery, FoundEntry, NewPlayer, Player, PlayerChange } from './schema.ts';
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
  createdAt: row.createdAt.toISOString(),
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

const checkTimeZone = async (
  { database }: Context,
  { timeZone }: { timeZone?: string | null | undefined },
): Promise<void> => {
  if (timeZone && !(await isTimeZone(database.orm, timeZone)))
    throw new ValidationFailed({ timeZone: ['must be an IANA time zone such as Europe/Berlin'] });
};

export const createPlayer = async (
  ctx: Context,
  by: string,
  { playerId, currency, ...profile }: z.output<typeof NewPlayer>,
): Promise<PlayerView> => {
  await checkTimeZone(ctx, profile);
  return ctx.database.orm.transaction(async (tx) => {
    const player = await insertPlayer(tx, { playerId, currency: currencyOf(currency), ...profile });
    if (player === undefined) throw new Conflict('player_exists', 'There is a player of that id already.');
    const details = { by, currency: player.currency };
    await recordEvent(tx, { kind: 'player_created', playerId, details });
    return view(player);
  });
};

/** The stored row. Throws NotFound. */
export const playerRow = async ({ database }: Context, playerId: string): Promise<PlayerRow> => {
  const row = await findPlayer(database.orm, playerId);
  if (row === undefined) throw new NotFound('player');
  return row;
};

export const getPlayer = async (ctx: Context, playerId: string): Promise<PlayerView> =>
  view(await playerRow(ctx, playerId));

export const changePlayer = async (
  ctx: Context,
  by: string,
  playerId: string,
  change: z.output<typeof PlayerChange>,
): Promise<PlayerView> => {
  await checkTimeZone(ctx, change);
  return ctx.database.orm.transaction(async (tx) => {
    const row = await updatePlayer(tx, playerId, change);
    if (row === undefined) throw new NotFound('player');
    const { status, excluded, excludedUntil: until } = row;
    // The audit trail names the changed personal fields, without their values.
    const details = { by, fields: Object.keys(change), status, excluded, until };
    await recordEvent(tx, { kind: 'player_changed', playerId, details });
    return view(row);
  });
};

export const pagePlayers = async (ctx: Context, page: Page): Promise<Slice<PlayerView>> => {
  const rows = await listPlayers(ctx.database.orm, page);
  return slice(rows.map(view), page.limit);
};

export const pageEntries = async (
  ctx: Context,
  playerId: string,
  { sort }: Pick<z.output<typeof EntryQuery>, 'sort'>,
  page: Page,
): Promise<Slice<EntryView>> => {
  const { seq } = await playerRow(ctx, playerId);
  const rows = await listEntries(ctx.database.sql, playerId, page, sort === '-seq' ? seq : undefined);
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
