import { expect, test, vi } from 'vitest';
import { missingInRounds } from '../src/reconciliation/repair-queries.ts';
import { addPlayer, callerOf } from './factories.ts';
import { approve, missingBets, needsApproval } from './missing-bets.ts';
import {
  ago,
  alone,
  apply,
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

test('repairs of more than the amount of a day need the approval of somebody else', async () => {
  const service = await alone({ RECONCILIATION_MAX_AMOUNT: '10.00' });
  const { own, url } = service;
  await using _ = own;
  const { sql } = own.context.database;
  const id = await missingBets(service, ['6.00', '4.00', '0.01', '0']);
  const count = async () => (await sql`select from entries where operation = 'debit'`).length;

  const large = await dryRun(url, id, [1, 2, 3]);
  expect(await apply(url, id, large.dryRunId)).toMatchObject(needsApproval);
  expect(await count()).toBe(0);
  // All applies of the day are added up, up to the cent.
  for (const number of [1, 2]) {
    const { dryRunId } = await dryRun(url, id, [number]);
    expect(await apply(url, id, dryRunId)).toMatchObject({ status: 200 });
    // A repetition moves nothing, so it counts nothing.
    expect(await apply(url, id, dryRunId)).toMatchObject({ status: 200 });
  }
  const { dryRunId } = await dryRun(url, id, [3]);
  expect(await apply(url, id, dryRunId)).toMatchObject(needsApproval);
  expect(await approve(url, id, dryRunId, 'bob', 'wallet:admin wallet:read')).toMatchObject({ status: 403 });
  // Nobody approves what is their own.
  expect(await approve(url, id, dryRunId, 'ann')).toMatchObject({ status: 409, code: 'own_dry_run' });
  expect(await apply(url, id, dryRunId)).toMatchObject(needsApproval);
  expect(await approve(url, id, dryRunId, 'bob')).toMatchObject({
    status: 200,
    approvedBy: 'bob',
    sums: [{ kind: 'missing_here', operation: 'debit', currency: 'EUR', repairs: 1, amount: '0.01' }],
  });
  // The approval is of this dry run only.
  const other = await dryRun(url, id, [3]);
  expect(await apply(url, id, other.dryRunId)).toMatchObject(needsApproval);
  expect(await apply(url, id, dryRunId)).toMatchObject({ status: 200, repairs: [{ state: 'applied' }] });
  // What moves no money needs no approval.
  const free = await dryRun(url, id, [4]);
  expect(await apply(url, id, free.dryRunId)).toMatchObject({ status: 200, repairs: [{ state: 'applied' }] });
  expect(await count()).toBe(4);
  const { events } = await getJson<{ events: { kind: string; details: object }[] }>(
    url,
    '/v1/audit/events?limit=200',
  );
  expect(events.map(({ kind }) => kind)).toContain('reconciliation_dry_run_approved');

  // A day later the amount is there again.
  await sql`update reconciliation_differences set repaired_at = repaired_at - interval '24 hours 1 second'`;
  const next = await missingBets(service, ['10.00']);
  const tomorrow = await dryRun(url, next, [1]);
  expect(await apply(url, next, tomorrow.dryRunId)).toMatchObject({ status: 200 });
});

const aboveMaxAmount = { status: 409, code: 'above_max_amount' };

test('the caller can lower the amount, but not raise it', async () => {
  const service = await alone({ RECONCILIATION_MAX_AMOUNT: '10.00' });
  const { own, url } = service;
  await using _ = own;
  const id = await missingBets(service, ['6.00', '11.00']);
  const small = await dryRun(url, id, [1]);
  expect(await apply(url, id, small.dryRunId, '5.99')).toMatchObject(aboveMaxAmount);
  expect(await apply(url, id, small.dryRunId, '6.00')).toMatchObject({ status: 200 });
  const large = await dryRun(url, id, [2]);
  expect(await apply(url, id, large.dryRunId, '100.00')).toMatchObject(needsApproval);
  // Nor does an approval raise it.
  await approve(url, id, large.dryRunId, 'bob');
  expect(await apply(url, id, large.dryRunId, '16.99')).toMatchObject(aboveMaxAmount);
  expect(await apply(url, id, large.dryRunId, '17.00')).toMatchObject({ status: 200 });
});

test('every currency has an amount of its own, and what a rollback gives back counts', async () => {
  const service = await alone({ RECONCILIATION_MAX_AMOUNT: '10.00' });
  const { own, url, players } = service;
  await using _ = own;
  const [playerId = ''] = players;
  const dollars = await addPlayer(own.context.database.sql, { currency: 'USD' });
  await callerOf(own, playerId).debit({ transactionId: 'bet', roundId: 'r', amount: '9.00' });
  const back = {
    operation: 'rollback',
    reverseTransactionId: 'bet',
    amount: '',
    roundClosed: false,
  } as const;
  const { reconciliationId: id } = await reconcile(url, [
    lineOf({ playerId, roundId: 'r', ...back }),
    lineOf({ playerId, amount: '2.00' }),
    lineOf({ playerId: dollars, amount: '10.00', currency: 'USD' }),
  ]);
  const all = await dryRun(url, id, [1, 2, 3]);
  expect(all.sums).toHaveLength(3);
  for (const sum of [
    { operation: 'rollback', currency: 'EUR', amount: '9.00' },
    { operation: 'debit', currency: 'EUR', amount: '2.00' },
    { operation: 'debit', currency: 'USD', amount: '10.00' },
  ])
    expect(all.sums).toContainEqual({ kind: 'missing_here', repairs: 1, ...sum });
  expect(all.repairs).toContainEqual(
    expect.objectContaining({ playerId: dollars, operation: 'debit', amount: '10.00' }),
  );
  expect(await apply(url, id, all.dryRunId)).toMatchObject(needsApproval);
  const some = await dryRun(url, id, [1, 3]);
  expect(await apply(url, id, some.dryRunId)).toMatchObject({ status: 200 });
});

test('eight applies at once do not exceed the amount together', async () => {
  const service = await alone({ RECONCILIATION_MAX_AMOUNT: '10.00' });
  const { own, url } = service;
  await using _ = own;
  const id = await missingBets(service, Array<string>(8).fill('4.00'));
  const runs = await Promise.all(Array.from({ length: 8 }, (_none, at) => dryRun(url, id, [at + 1])));
  const answers = await Promise.all(runs.map(({ dryRunId }) => apply(url, id, dryRunId)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  const [sums] = await own.context.database
    .sql`select sum(amount)::int as sum from entries where operation = 'debit'`;
  expect(sums).toEqual({ sum: -800 });
});

test('two applies of one dry run at once apply it once', async () => {
  const service = await alone({ RECONCILIATION_MAX_AMOUNT: '10.00' });
  const { own, url } = service;
  await using _ = own;
  const id = await missingBets(service, ['4.00', '5.00']);
  const { dryRunId } = await dryRun(url, id, [1, 2]);
  const answers = await Promise.all([1, 2, 3].map(() => apply(url, id, dryRunId)));
  expect(answers.map(({ status }) => status)).toContain(200);
  expect(await apply(url, id, dryRunId)).toMatchObject({
    status: 200,
    repairs: [{ state: 'applied' }, { state: 'applied' }],
  });
  const [sums] = await own.context.database
    .sql`select sum(amount)::int as sum from entries where operation = 'debit'`;
  expect(sums).toEqual({ sum: -900 });
});

test('nothing is applied when anything changed since the dry run', async () => {
  const service = await alone();
  const { own, url, players } = service;
  await using _ = own;
  const { sql } = own.context.database;
  const id = await missingBets(service, ['600.00', '300.00', '1.00']);
  const outdated = { status: 409, code: 'dry_run_outdated' };
  const all = await dryRun(url, id, [1, 2, 3]);
  expect(all.repairs.map(({ status }) => status)).toEqual(['OK', 'OK', 'OK']);
  // The player has less money now.
  await callerOf(own, players[0] ?? '').debit({ amount: '500.00' });
  expect(await apply(url, id, all.dryRunId)).toMatchObject(outdated);
  expect(await sql`select from entries where operation = 'debit'`).toHaveLength(1);
  // Somebody else has applied one of them.
  const [first, second] = [await dryRun(url, id, [2, 3]), await dryRun(url, id, [3])];
  expect(await apply(url, id, second.dryRunId)).toMatchObject({ status: 200 });
  expect(await apply(url, id, first.dryRunId)).toMatchObject(outdated);
  expect(await sql`select from entries where operation = 'debit'`).toHaveLength(2);
});

test('an apply whose process ends counts until it is repeated, and then counts once', async () => {
  const service = await alone({ RECONCILIATION_MAX_AMOUNT: '10.00' });
  const { own, url } = service;
  await using _ = own;
  const id = await missingBets(service, ['6.00', '4.00', '1.00']);
  const { dryRunId } = await dryRun(url, id, [1, 2]);
  vi.spyOn(own.context.ledger, 'add').mockRejectedValueOnce(new Error('the process has ended'));
  expect((await apply(url, id, dryRunId)).status).toBe(500);
  const more = await dryRun(url, id, [3]);
  expect(await apply(url, id, more.dryRunId)).toMatchObject(needsApproval);
  expect(await apply(url, id, dryRunId)).toMatchObject({
    status: 200,
    repairs: [{ state: 'applied' }, { state: 'applied' }],
  });
});

test('an approval ends after 24 hours, and is of somebody else who was the first', async () => {
  const service = await alone({ RECONCILIATION_MAX_AMOUNT: '10.00' });
  const { own, url } = service;
  await using _ = own;
  const id = await missingBets(service, ['11.00']);
  const { dryRunId } = await dryRun(url, id, [1]);
  await approve(url, id, dryRunId, 'bob');
  expect(await approve(url, id, dryRunId, 'carol')).toMatchObject({ status: 200, approvedBy: 'bob' });
  await own.context.database
    .sql`update reconciliation_dry_runs set approved_at = approved_at - interval '24 hours'`;
  expect(await apply(url, id, dryRunId)).toMatchObject(needsApproval);
  expect(await approve(url, id, dryRunId, 'carol')).toMatchObject({ status: 200, approvedBy: 'carol' });
  expect(await apply(url, id, dryRunId)).toMatchObject({ status: 200 });
  expect(await approve(url, id, dryRunId, 'bob')).toMatchObject({ status: 409, code: 'nothing_to_apply' });
});

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
