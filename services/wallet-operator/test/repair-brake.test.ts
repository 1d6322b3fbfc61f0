import { expect, test, vi } from 'vitest';
import { addPlayer, callerOf } from './factories.ts';
import { approve, missingBets, needsApproval } from './missing-bets.ts';
import { alone, apply, dryRun, getJson, lineOf, reconcile } from './reconciliations.ts';

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
