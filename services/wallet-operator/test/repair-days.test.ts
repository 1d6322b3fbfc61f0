import { expect, test } from 'vitest';
import { missingInRounds } from '../src/reconciliation/repair-queries.ts';
import { callerOf } from './factories.ts';
import {
  ago,
  alone,
  dryRun,
  entriesOf,
  getJson,
  lineOf,
  missingRound,
  reconcile,
  repair,
  repairAll,
  shortly,
  withoutMoves,
} from './reconciliations.ts';

/** Statements of two periods, the first of which ends 600 seconds ago: the bet of a round is in one, its win in the other. */
const twoDays = (playerId: string, betTime = ago(900)) => {
  const yesterday = ago(600);
  const [win, bet] = missingRound(playerId, { time: ago(300) });
  return {
    bet: [{ ...bet, time: betTime }],
    win: [{ ...win }],
    first: { from: ago(3600), to: yesterday },
    second: { from: yesterday },
  };
};

test.each([
  ['with times', ago(900)],
  ['without times', ''],
])('a win waits for its bet, which another reconciliation %s found missing', async (_, betTime) => {
  const { own, players, url } = await alone();
  await using _own = own;
  const { bet, win, first, second } = twoDays(players[0] ?? '', betTime);
  const { reconciliationId: dayOne } = await reconcile(url, bet, first);
  const { reconciliationId: dayTwo } = await reconcile(url, win, second);
  for (const isDryRun of [true, false])
    expect((await repair(url, dayTwo, [1], isDryRun)).repairs).toMatchObject([
      { number: 1, state: 'open', status: null, reason: 'earlier_first' },
    ]);
  for (const id of [dayOne, dayTwo])
    expect((await repair(url, id, [1], false)).repairs).toMatchObject([{ state: 'applied' }]);
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
});

test('a win of a round that nobody knows waits until the statement of the time before was compared', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const { bet, win, first, second } = twoDays(players[0] ?? '');
  const { reconciliationId: dayTwo } = await reconcile(url, win, second);
  const waits = [{ state: 'open', status: null, reason: 'earlier_statement_first' }];
  for (const isDryRun of [true, false])
    expect((await repair(url, dayTwo, [1], isDryRun)).repairs).toMatchObject(waits);
  await repairAll(url, await reconcile(url, bet, first));
  expect((await repair(url, dayTwo, [1], false)).repairs).toMatchObject([{ state: 'applied' }]);
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
});

test('a win without a bet, such as a free round, is paid when the time before was compared', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const { win, first, second } = twoDays(players[0] ?? '');
  await reconcile(url, withoutMoves, first);
  await repairAll(url, await reconcile(url, win, second));
  expect(await entriesOf(own)).toEqual(['win']);
});

test('a win does not wait for a bet that the game server has sent meanwhile', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const playerId = players[0] ?? '';
  const { bet, win, first, second } = twoDays(playerId);
  await reconcile(url, bet, first);
  const found = await reconcile(url, win, second);
  const late = await callerOf(own, playerId).debit({ transactionId: 'bet', roundId: 'r', amount: '1.00' });
  expect(late.status).toBe('OK');
  await repairAll(url, found);
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
});

/** The statement of the second day has the rollback of the bet of the first. */
const reversedLater = (playerId: string) => {
  const { win, ...days } = twoDays(playerId);
  const rollback = { operation: 'rollback', transactionId: 'undo', reverseTransactionId: 'bet' } as const;
  return { ...days, undo: win.map((line) => ({ ...line, ...rollback, amount: '' })) };
};

const balanceOf = async (url: string, playerId: string) =>
  (await getJson<{ balance: string }>(url, `/v1/players/${playerId}`)).balance;

test('a stake is given back when its rollback is in a later statement, compared before the bet was repaired', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  const { bet, undo, first, second } = reversedLater(playerId);
  const dayOne = await reconcile(url, bet, first);
  const dayTwo = await reconcile(url, undo, second);
  expect(shortly(dayTwo)).toEqual(['missing_here undo']);
  const before = await balanceOf(url, playerId);
  expect((await repair(url, dayTwo.reconciliationId, [1], false)).repairs).toMatchObject([
    { reason: 'earlier_first' },
  ]);
  await repairAll(url, dayOne);
  expect(await balanceOf(url, playerId)).not.toBe(before);
  await repairAll(url, dayTwo);
  expect(await entriesOf(own)).toEqual(['bet', 'undo']);
  expect(await balanceOf(url, playerId)).toBe(before);
  for (const [lines, period] of [
    [bet, first],
    [undo, second],
  ] as const)
    expect(shortly(await reconcile(url, lines, period))).toEqual([]);
});

test('a rollback whose bet nobody has forbids the bet, once the time before was compared', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  const { undo, first, second } = reversedLater(playerId);
  const found = await reconcile(url, undo, second);
  expect((await repair(url, found.reconciliationId, [1], false)).repairs).toMatchObject([
    { state: 'open', reason: 'earlier_statement_first' },
  ]);
  await reconcile(url, withoutMoves, first);
  await repairAll(url, found);
  expect(shortly(await reconcile(url, undo, second))).toEqual([]);
  const late = await callerOf(own, playerId).debit({ transactionId: 'bet', roundId: 'r', amount: '1.00' });
  expect(late.status).toBe('ERROR_UNKNOWN');
  expect(await entriesOf(own)).toEqual(['bet', 'undo']);
});

test('the time before is compared by other statements, not by the same one that begins a little earlier', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const { bet, win, first } = twoDays(players[0] ?? '');
  const end = Date.parse(first.to);
  const at = (seconds: number) => new Date(end + seconds * 1000).toISOString();
  await reconcile(url, win, { from: first.to, to: at(590) });
  const { reconciliationId: again } = await reconcile(url, win, { from: at(1), to: at(590) });
  const waits = { status: null, reason: 'earlier_statement_first' };
  expect((await dryRun(url, again, [1])).repairs).toMatchObject([waits]);
  // A part of the time before, and then the rest of it.
  await reconcile(url, withoutMoves, { from: at(-400), to: first.to });
  expect((await dryRun(url, again, [1])).repairs).toMatchObject([waits]);
  await repairAll(url, await reconcile(url, bet, { from: first.from, to: at(-200) }));
  expect((await repair(url, again, [1], false)).repairs).toMatchObject([{ state: 'applied' }]);
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
});

test('of a round with many missing transactions only those that are first, or are repaired, are read', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  const bets = Array.from({ length: 300 }, (_none, at) =>
    lineOf({ playerId, roundId: 'r', transactionId: `bet${at}`, time: at % 2 ? '' : ago(300 - at) }),
  );
  await reconcile(url, bets);
  const rows = await missingInRounds(own.context.database.sql, [playerId], ['r'], ['bet100', 'bet101']);
  expect(new Set(rows.map(({ transactionId }) => transactionId))).toEqual(
    new Set(['bet0', 'bet1', 'bet100', 'bet101']),
  );
});
