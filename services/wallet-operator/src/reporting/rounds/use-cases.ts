import { type Page, pageList, type Slice, slice } from '@platform/pagination/list';
import { NotFound } from '@platform/service-kit/problem';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { decimal } from '@platform/wallet-protocol/money';
import { roundEntries } from '../../accounts/players/use-cases.ts';
import type { Round, RoundQuery, RoundWithEntries } from './schema.ts';
import { findRound, listRounds, type RoundRow } from './queries.ts';

const view = ({
  openedAt,
  closedAt,
  ...row
}: Omit<RoundRow, 'money'>): Omit<z.input<typeof Round>, 'stake' | 'result'> => ({
  ...row,
  status: closedAt === null ? 'open' : 'closed',
  openedAt: openedAt.toISOString(),
  closedAt: closedAt?.toISOString() ?? null,
});

const sumsOf = ([stake, result]: RoundRow['money']) => ({ stake: decimal(stake), result: decimal(result) });

export const getRound = async (
  ctx: Context,
  playerId: string,
  roundId: string,
  page: Page,
): Promise<z.input<typeof RoundWithEntries>> => {
  const roundRow = await findRound(ctx.database.orm, playerId, roundId);
  if (roundRow === undefined) throw new NotFound('round');
  const { money, ...row } = roundRow;
  const entries = pageList('entries', page, await roundEntries(ctx, playerId, roundId, page));
  return { ...view(row), ...sumsOf(money), ...entries };
};

/** Rounds that are still open, or those with an id. `olderThan` is in seconds, or an instant. */
export const pageRounds = async (
  { database }: Context,
  query: z.output<typeof RoundQuery>,
  page: Page,
): Promise<Slice<z.input<typeof Round>>> =>
  slice(
    (await listRounds(database.orm, query, page)).map(({ money, ...row }) => ({
      ...view(row),
      ...(money === null ? { stake: null, result: null } : sumsOf(money)),
    })),
    page.limit,
  );
