import { readPageList } from '@platform/pagination/list';
import { NotFound } from '@platform/service-kit/problem';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { decimal } from '@platform/wallet-protocol/money';
import { roundEntries } from '../../accounts/players/use-cases.ts';
import type { RoundEntriesQuery, RoundList, RoundPath, RoundQuery, RoundWithEntries } from './schema.ts';
import { findRound, listRounds } from './queries.ts';

/** Throws NotFound. */
export const getRound = async (
  ctx: Context,
  { playerId, roundId }: z.output<typeof RoundPath>,
  query: z.output<typeof RoundEntriesQuery>,
): Promise<z.input<typeof RoundWithEntries>> => {
  const round = await findRound(ctx.database.sql, playerId, roundId);
  if (round === undefined) throw new NotFound('round');
  const [stake, result] = round.money;
  const entries = await roundEntries(ctx, playerId, roundId, query);
  return { ...round, stake: decimal(stake), result: decimal(result), ...entries };
};

/** Rounds that are still open, or those with an id. */
export const pageRounds = (
  { database: { sql } }: Context,
  query: z.output<typeof RoundQuery>,
): Promise<z.input<typeof RoundList>> =>
  readPageList('rounds', query, async (page) =>
    (await listRounds(sql, query, page)).map(({ money, ...round }) => ({
      ...round,
      stake: money && decimal(money[0]),
      result: money && decimal(money[1]),
    })),
  );
