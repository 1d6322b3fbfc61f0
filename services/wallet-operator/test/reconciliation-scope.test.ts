import { expect, test } from 'vitest';
import { callerOf } from './factories.ts';
import { ago, alone, lineOf, reconcile, shortly } from './reconciliations.ts';

/** A bet of 10.00 and a win of 5.00 of the first player, and their lines. */
const paidRound = async (scope: string) => {
  const service = await alone({ TRANSACTION_ID_SCOPE: scope });
  const [playerId = '', stranger = ''] = service.players;
  const caller = callerOf(service.own, playerId);
  await caller.debit({ transactionId: 'bet', roundId: 'r', amount: '10.00' });
  await caller.credit({ transactionId: 'win', roundId: 'r', amount: '5.00' });
  const lines = [
    lineOf({ playerId, transactionId: 'bet', roundId: 'r', amount: '10.00' }),
    lineOf({
      playerId,
      operation: 'credit',
      transactionId: 'win',
      roundId: 'r',
      amount: '5.00',
      roundClosed: true,
    }),
  ] as const;
  return { ...service, playerId, stranger, lines };
};

test.each(['global', 'player'])(
  'TRANSACTION_ID_SCOPE=%s: a paid win that the statement gives to another player is not paid again',
  async (scope) => {
    const { own, url, playerId, stranger, lines } = await paidRound(scope);
    await using _ = own;
    const [bet, win] = lines;
    for (const query of [{}, { from: ago(600) }]) {
      const { differences } = await reconcile(url, [bet, { ...win, playerId: stranger }], query);
      expect(differences).toMatchObject([
        {
          kind: 'player',
          transactionId: 'win',
          repair: 'ask_game_server',
          there: { playerId: stranger },
          here: { playerId },
        },
      ]);
    }
  },
);

test.each(['global', 'player'])(
  'TRANSACTION_ID_SCOPE=%s: a win paid before the period is not paid again to the player whom a line without a time names',
  async (scope) => {
    const { own, url, stranger, lines } = await paidRound(scope);
    await using _ = own;
    const { sql } = own.context.database;
    await sql`alter table entries disable trigger user`;
    await sql`update entries set at = at - interval '30 minutes'`;
    const period = { from: ago(600) };
    const found = await reconcile(url, [{ ...lines[1], playerId: stranger, time: '' }], period);
    expect(found.differences.filter(({ repair }) => repair === 'apply')).toEqual([]);
  },
);

test('TRANSACTION_ID_SCOPE=player: two players with one transaction id are two transactions', async () => {
  const { own, url, stranger, lines } = await paidRound('player');
  await using _ = own;
  const [bet, win] = lines;
  const missing = { ...win, playerId: stranger, roundId: 'of the stranger' };
  expect(await reconcile(url, [bet, win, missing])).toMatchObject({
    differences: [{ kind: 'missing_here', repair: 'apply', there: { playerId: stranger } }],
  });
  await callerOf(own, stranger).credit({ transactionId: 'win', roundId: 'of the stranger', amount: '5.00' });
  expect(shortly(await reconcile(url, [bet, win, missing]))).toEqual([]);
  // Each line that is left out is missing there, although another player has its id.
  expect(shortly(await reconcile(url, [bet, win]))).toEqual(['missing_there win']);
  expect(shortly(await reconcile(url, [bet, missing]))).toEqual(['missing_there win']);
});
