import { expect, test } from 'vitest';
import { commitCommands } from '../src/ledger/commit-commands.ts';
import { startForDecisions } from './decisions.ts';

const { player, sql } = startForDecisions();

test('a bet and a rollback that names another round may change one round in one batch', async () => {
  const caller = await player();
  const { playerId } = caller;
  const common = { playerId, gameCode: 'dice-alpha' } as const;
  await caller.credit({ transactionId: 'gift', roundId: 'A', amount: '5.00', roundClosed: false });
  // The win that overtook its bet is of an earlier day.
  await sql()`update rounds set opened_at = opened_at - interval '1 day' where player_id = ${playerId}`;
  await caller.debit({ transactionId: 't1', roundId: 'A', amount: '1.00' });
  const outcomes = await commitCommands(
    sql(),
    [
      { ...common, operation: 'debit', transactionId: 't2', roundId: 'A', amount: 100 },
      {
        ...common,
        operation: 'rollback',
        transactionId: 'rb',
        reverses: 't1',
        roundId: 'B',
        roundClosed: true,
      },
    ],
    undefined,
    {
      rollbackAfterClose: 'reverse',
      creditUnknownRound: 'accept',
      sessions: 'optional',
      transactionIds: 'global',
      limitStatus: 'ERROR_UNKNOWN',
      sessionBreakS: 1800,
      sessionTtlS: 3600,
      sessionMaxS: 43_200,
    },
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['OK', 'OK']);
  expect(
    await sql()`select round_id, closed_at is not null as closed from rounds where player_id = ${playerId}`,
  ).toEqual([{ round_id: 'A', closed: true }]);
});
