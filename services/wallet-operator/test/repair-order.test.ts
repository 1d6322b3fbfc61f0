import { expect, test } from 'vitest';
import { callerOf } from './factories.ts';
import {
  ago,
  alone,
  entriesOf,
  lineOf,
  missingRound,
  reconcile,
  repair,
  repairAll,
  shortly,
  withoutMoves,
} from './reconciliations.ts';

test('a win is not paid before its bet is taken, also when only the win is asked for', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const lines = missingRound(players[0] ?? '');
  const { reconciliationId: id } = await reconcile(url, lines);
  const waits = { number: 1, state: 'open', status: null, reason: 'earlier_first' };
  for (const dryRun of [true, false])
    expect((await repair(url, id, [1], dryRun)).repairs).toMatchObject([waits]);
  expect(await entriesOf(own)).toEqual([]);
  for (const number of [2, 1])
    for (const dryRun of [true, false])
      expect((await repair(url, id, [number], dryRun)).repairs).toMatchObject([{ number, status: 'OK' }]);
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
  expect(await reconcile(url, lines)).toMatchObject({ status: 'done', differences: [] });
});

test('a win is not paid when its bet is refused', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const { sql } = own.context.database;
  const { reconciliationId: id } = await reconcile(url, missingRound(players[0] ?? ''));
  await sql`update games set enabled = false`;
  for (const dryRun of [true, false])
    expect((await repair(url, id, [1, 2], dryRun)).repairs).toMatchObject([
      { number: 2, reason: 'game_unavailable' },
      { number: 1, reason: 'earlier_first' },
    ]);
  expect(await entriesOf(own)).toEqual([]);
  await sql`update games set enabled = true`;
  expect((await repair(url, id, [1, 2], false)).repairs).toMatchObject([
    { number: 2, state: 'applied' },
    { number: 1, state: 'applied' },
  ]);
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
});

test('a bet is repaired without a session also where the callbacks of bets need one', async () => {
  const { own, players, url } = await alone({ SESSION_POLICY: 'required' });
  await using _ = own;
  const lines = missingRound(players[0] ?? '');
  await repairAll(url, await reconcile(url, lines));
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
  expect((await callerOf(own, players[0] ?? '').debit()).status).toBe('ERROR_INVALID_SESSION');
});

test('repairs are made in the order of the times, also within a second', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const second = Math.floor(Date.now() / 1000 - 5) * 1000;
  const [win, bet] = missingRound(players[0] ?? '');
  const at = (ms: number) => new Date(second + ms).toISOString();
  await repairAll(
    url,
    await reconcile(url, [
      { ...win, time: at(500) },
      { ...bet, time: at(0) },
    ]),
  );
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
});

test('without times bets come first and what ends the round comes last', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [win, bet] = missingRound(players[0] ?? '').map((line) => ({ ...line, time: '' }));
  const first = { ...win, transactionId: 'first win', roundClosed: false };
  await repairAll(url, await reconcile(url, [{ ...win }, first, { ...bet }]));
  expect(await entriesOf(own)).toEqual(['bet', 'first win', 'win']);
});

test('an entry of a repair is compared at the time that the statement gave', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const playerId = players[0] ?? '';
  const lines = [lineOf({ playerId, transactionId: 'bet', time: ago(1800) })];
  await repairAll(url, await reconcile(url, lines));
  const period = { from: ago(1860), to: ago(1740) };
  expect(shortly(await reconcile(url, lines, period))).toEqual([]);
  // The game server corrects its statement: the repair was its mistake.
  expect(shortly(await reconcile(url, withoutMoves, period))).toEqual(['missing_there bet']);
  // The time of the repair itself is in this period.
  expect(shortly(await reconcile(url, withoutMoves, { from: ago(600) }))).toEqual([]);
});

test('an entry of a repair from a statement without times is looked up with the whole period', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const lines = [lineOf({ playerId: players[0] ?? '', transactionId: 'bet', time: '' })];
  const period = { from: ago(1800), to: ago(600) };
  await repairAll(url, await reconcile(url, lines, period));
  expect(shortly(await reconcile(url, lines, period))).toEqual([]);
  expect(shortly(await reconcile(url, withoutMoves, period))).toEqual(['missing_there bet']);
  expect(shortly(await reconcile(url, withoutMoves, { ...period, to: ago(1200) }))).toEqual([]);
});

test('a transaction that two reconciliations repaired with different times is reported once', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const lines = (seconds: number) => [
    lineOf({ playerId: players[0] ?? '', roundId: 'r', transactionId: 'bet', time: ago(seconds) }),
  ];
  const both = [await reconcile(url, lines(1800)), await reconcile(url, lines(600))];
  for (const found of both) await repairAll(url, found);
  expect(shortly(await reconcile(url, withoutMoves))).toEqual(['missing_there bet']);
  // The newest reconciliation says when it was.
  expect(shortly(await reconcile(url, withoutMoves, { to: ago(1200) }))).toEqual([]);
});
