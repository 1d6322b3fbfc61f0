import { expect, test, vi } from 'vitest';
import { callerOf } from './factories.ts';
import { ago, alone, apply, dryRun, lineOf, reconcile, shortly } from './reconciliations.ts';

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

const ofAnother = { state: 'open', status: null, reason: 'received_for_another_player' };

test('TRANSACTION_ID_SCOPE=player: a win is not paid to the player whom the statement names when it arrives for another one after the comparison', async () => {
  const { own, url, players } = await alone({ TRANSACTION_ID_SCOPE: 'player' });
  await using _ = own;
  const [playerId = '', stranger = ''] = players;
  const win = { transactionId: 'win', roundId: 'r', amount: '5.00' };
  const line = lineOf({ ...win, playerId: stranger, operation: 'credit', roundClosed: true });
  const bet = { transactionId: 'bet', roundId: 'r', amount: '1.00' };
  const { reconciliationId: id } = await reconcile(url, [
    lineOf({ ...bet, playerId: stranger, time: ago(5) }),
    line,
  ]);
  const { dryRunId, repairs } = await dryRun(url, id, [1, 2]);
  expect(repairs.map(({ status }) => status)).toEqual(['OK', 'OK']);
  // Another transaction of that id, which says nothing about the win.
  await callerOf(own, players[2] ?? '').debit({ transactionId: 'win', roundId: 'other' });
  // A late retry arrives while the repairs are made, after the ledger was asked what it would decide.
  const { ledger } = own.context;
  const add = ledger.add.bind(ledger);
  vi.spyOn(ledger, 'add').mockImplementationOnce(async (command) => {
    const outcome = await add(command);
    await callerOf(own, playerId).credit(win);
    return outcome;
  });
  expect((await apply(url, id, dryRunId)).repairs).toMatchObject([
    { state: 'applied' },
    { ...ofAnother, state: 'refused' },
  ]);
  expect((await dryRun(url, id, [2])).repairs).toMatchObject([{ ...ofAnother, state: 'refused' }]);
  const { sql } = own.context.database;
  expect(await sql`select player_id as id from entries where operation = 'credit'`).toEqual([
    { id: playerId },
  ]);
});

test('TRANSACTION_ID_SCOPE=player: a dry run is outdated when one of its transactions arrives for another player, unless the statement has both', async () => {
  const { own, url, players } = await alone({ TRANSACTION_ID_SCOPE: 'player' });
  await using _ = own;
  const [playerId = '', stranger = ''] = players;
  const bet = { transactionId: 'bet', roundId: 'r', amount: '1.00' };
  const named = lineOf({ ...bet, playerId: stranger });
  const { reconciliationId: id } = await reconcile(url, [named]);
  const { reconciliationId: both } = await reconcile(url, [named, lineOf({ ...bet, playerId })]);
  const { dryRunId } = await dryRun(url, id, [1]);
  await callerOf(own, playerId).debit(bet);
  expect(await apply(url, id, dryRunId)).toMatchObject({ status: 409, code: 'dry_run_outdated' });
  expect((await dryRun(url, id, [1])).repairs).toMatchObject([ofAnother]);
  expect((await dryRun(url, both, [1])).repairs).toMatchObject([{ status: 'OK' }]);
});
