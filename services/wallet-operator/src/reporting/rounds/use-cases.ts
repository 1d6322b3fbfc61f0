import { readPageList } from '@platform/pagination/list';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { z } from 'zod';
import { entriesOfRound } from '../../accounts/players/use-cases.ts';
import type { Context } from '../../context.ts';
import { findRound } from './queries.ts';
import type { RoundEntriesQuery, RoundPath, RoundWithEntries } from './schema.ts';

/** Rounds that are still open, or those with an id. */
export { listRounds } from './queries.ts';

/** Throws NotFound. */
export const getRound = async (
  { database: { sql } }: Context,
  { playerId, roundId }: z.output<typeof RoundPath>,
  query: z.output<typeof RoundEntriesQuery>,
): Promise<z.input<typeof RoundWithEntries>> => ({
  ...orNotFound(await findRound(sql, playerId, roundId), 'round'),
  ...(await readPageList('entries', query, (page) => entriesOfRound(sql, playerId, roundId, page))),
});
