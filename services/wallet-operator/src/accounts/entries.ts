import type { Page } from '@platform/pagination/list';
import type { Route } from '@platform/service-kit/route';
import { id } from '@platform/wallet-protocol/ids';
import type { ISql, Sql } from 'postgres';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { decimalOf, isoTime } from '../db/sql.ts';
import { isCut } from '../ledger/metadata.ts';
import { listRoute } from '../list-route.ts';
import { Entry, FoundEntry, PlayerPath } from './players/schema.ts';
import { getPlayer } from './players/use-cases.ts';

type EntryView = z.input<typeof FoundEntry>;

/** Entries in the form of the API. */
const selectEntries = (sql: ISql) => sql`
  select e.player_id as "playerId", e.seq::float8, e.operation, e.transaction_id as "transactionId",
    e.round_id as "roundId", e.game_code as "gameCode", ${decimalOf(sql, sql`e.amount`)} as amount, p.currency,
    ${decimalOf(sql, sql`e.balance_after`)} as "balanceAfter", e.reverses as "reverseTransactionId",
    ${isoTime(sql, sql`e.at`)} as at, e.metadata, ${sql.unsafe(isCut('e.metadata'))} as "metadataCut",
    coalesce(r.promotional and r.opened_seq = e.seq, false) as promotional
  from entries e join players p on p.player_id = e.player_id
    left join rounds r on r.player_id = e.player_id and r.round_id = e.round_id`;

/**
 * Entries of a player, the oldest or the newest (`-seq`) first, one more than the page holds. `seq` has no gaps, so the
 * query reads a deep page without skipping rows.
 */
const listEntries = (sql: Sql, playerId: string, sort: 'seq' | '-seq', { limit, offset }: Page) => {
  const [before, upTo] = [String(offset), String(offset + BigInt(limit) + 1n)];
  const newest = sql`(select seq from players where player_id = ${playerId})`;
  return sql<EntryView[]>`
    ${selectEntries(sql)} where e.player_id = ${playerId} and ${
      sort === 'seq'
        ? sql`e.seq > ${before} and e.seq <= ${upTo} order by e.seq`
        : sql`e.seq > ${newest} - ${upTo}::bigint and e.seq <= ${newest} - ${before}::bigint order by e.seq desc`
    }`;
};

/** Entries of one round, oldest first; one more than the page holds. */
export const entriesOfRound = (sql: ISql, playerId: string, roundId: string, { limit, offset }: Page) => sql<
  EntryView[]
>`
  ${selectEntries(sql)} where e.player_id = ${playerId} and e.round_id = ${roundId}
  order by e.seq limit ${limit + 1} offset ${String(offset)}`;

/** Entries with this transaction id, in all id spaces, and their reversals; one more than the page holds. */
const entriesOfTransaction = (sql: Sql, transactionId: string, { limit, offset }: Page) => sql<EntryView[]>`
  ${selectEntries(sql)}
  where e.transaction_id = ${transactionId}
    or (e.reverses = ${transactionId} and e.operation = 'rollback' and e.amount > 0)
  order by e.player_id, e.seq limit ${limit + 1} offset ${String(offset)}`;

export const playerEntries = (context: Context): Route =>
  listRoute(
    {
      path: '/v1/players/{playerId}/entries',
      operationId: 'listEntries',
      tag: 'Players',
      summary: 'List the entries of a player',
      auth: context.tokens.guard('wallet:read'),
      params: PlayerPath,
      filters: z.object({
        sort: z.enum(['seq', '-seq']).default('seq').meta({ description: '`-seq`: newest first' }),
      }),
      name: 'entries',
      item: Entry,
    },
    async (page, { params: { playerId }, query: { sort } }) => {
      await getPlayer(context, playerId);
      return listEntries(context.database.sql, playerId, sort, page);
    },
  );

export const transactionEntries = (context: Context): Route =>
  listRoute(
    {
      path: '/v1/audit/entries',
      operationId: 'findEntries',
      tag: 'Audit',
      summary: 'Find entries by transaction id',
      auth: context.tokens.guard('wallet:read'),
      filters: z.object({ transactionId: id.meta({ example: 'demo-transaction' }) }),
      name: 'entries',
      item: FoundEntry,
    },
    (page, { query }) => entriesOfTransaction(context.database.sql, query.transactionId, page),
  );
