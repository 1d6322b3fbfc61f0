import type { Page } from '@platform/pagination/page-limit';
import { slice, type Slice } from '@platform/pagination/slice';
import { NotFound } from '@platform/service-kit/problem';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { decimal } from '../money.ts';
import { roundEntries } from '../players/use-cases.ts';
import type { Round, RoundQuery, RoundWithEntries } from './schema.ts';
import { findRound, listRounds, type RoundRow } from './store.ts';

const view = ({ openedAt, closedAt, money: [stake, result], ...row }: RoundRow): z.input<typeof Round> => ({
  ...row,
  stake: decimal(stake),
  result: decimal(result),
  status: closedAt === null ? 'open' : 'closed',
  openedAt: openedAt.toISOString(),
  closedAt: closedAt?.toISOString() ?? null,
});

export const getRound = async (
  ctx: Context,
  playerId: string,
  roundId: string,
): Promise<z.input<typeof RoundWithEntries>> => {
  const row = await findRound(ctx.database.orm, playerId, roundId);
  if (row === undefined) throw new NotFound('round');
  return { ...view(row), entries: await roundEntries(ctx, playerId, roundId) };
};

/** Rounds that are still open, or those with an id. `olderThan` is in seconds, or an instant. */
export const pageRounds = async (
  { database }: Context,
  query: z.output<typeof RoundQuery>,
  page: Page,
): Promise<Slice<z.input<typeof Round>>> =>
  slice((await listRounds(database.orm, query, page)).map(view), page.limit);
