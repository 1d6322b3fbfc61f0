import { readPageList, type Page } from '@platform/pagination/list';
import { orNotFound } from '@platform/service-kit/record-versions';
import { decimal } from '@platform/wallet-protocol/money';
import type { z } from 'zod';
import { roundEntries } from '../../accounts/players/use-cases.ts';
import type { Context } from '../../context.ts';
import { readOnListConnection } from '../../db/list-connection.ts';
import { findRound, listRounds } from './queries.ts';
import type { Round, RoundEntriesQuery, RoundFilter, RoundPath, RoundWithEntries } from './schema.ts';

/** Throws NotFound. */
export const getRound = async (
  ctx: Context,
  { playerId, roundId }: z.output<typeof RoundPath>,
  query: z.output<typeof RoundEntriesQuery>,
): Promise<z.input<typeof RoundWithEntries>> => {
  const round = orNotFound(await findRound(ctx.database.sql, playerId, roundId), 'round');
  const [stake, result] = round.money;
  const entries = await readPageList('entries', query, (page) => roundEntries(ctx, playerId, roundId, page));
  return { ...round, stake: decimal(stake), result: decimal(result), ...entries };
};

/** Rounds that are still open, or those with an id; one more than the page holds. */
export const roundViews = async (
  ctx: Context,
  filter: z.output<typeof RoundFilter>,
  page: Page,
): Promise<z.input<typeof Round>[]> =>
  (await readOnListConnection(ctx, page, (sql) => listRounds(sql, filter, page))).map(
    ({ money, ...round }) => ({
      ...round,
      stake: money && decimal(money[0]),
      result: money && decimal(money[1]),
    }),
  );
