import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { callerOf } from './factories.ts';
import { missingBets, needsApproval } from './missing-bets.ts';
import { alone, apply, dryRun, lineOf, reconcile } from './reconciliations.ts';

test('the amount of a repair is what it moves: nothing when the ledger has it by now', async () => {
  const service = await alone({ RECONCILIATION_MAX_AMOUNT: '10.00' });
  const { own, url, players } = service;
  await using _ = own;
  const [playerId = ''] = players;
  await callerOf(own, playerId).debit({ transactionId: 'bet', roundId: 'r', amount: '9.00' });
  const back = lineOf({
    playerId,
    roundId: 'r',
    operation: 'rollback',
    roundClosed: false,
    reverseTransactionId: 'bet',
    amount: '',
  });
  const late = { transactionId: 'late', roundId: 's', amount: '3.00' };
  const found = await reconcile(url, [
    back,
    { ...back, transactionId: 'again' },
    lineOf({ playerId, ...late }),
  ]);
  await callerOf(own, playerId).debit(late);
  const missing = found.differences.filter(({ kind }) => kind === 'missing_here');
  const run = await dryRun(
    url,
    found.reconciliationId,
    missing.map(({ number }) => number),
  );
  expect(run.repairs.map(({ amount }) => Number(amount)).toSorted((a, b) => a - b)).toEqual([0, 0, 9]);
  expect(run.sums.map(({ operation, amount }) => [operation, amount])).toEqual(
    expect.arrayContaining([
      ['rollback', '9.00'],
      ['debit', '0.00'],
    ]),
  );
  const applied = await apply(url, found.reconciliationId, run.dryRunId);
  expect(applied).toMatchObject({ status: 200 });
  expect(applied.repairs.map(({ amount }) => amount)).toEqual(run.repairs.map(({ amount }) => amount));
});

test('the refusal of a second attempt does not give back the amount of the first, which may still move', async () => {
  const service = await alone({ RECONCILIATION_MAX_AMOUNT: '10.00' });
  const { own, url } = service;
  await using _ = own;
  const { sql } = own.context.database;
  const id = await missingBets(service, ['6.00', '6.00']);
  const first = await dryRun(url, id, [1]);
  const second = await dryRun(url, id, [1]);
  const other = await dryRun(url, id, [2]);
  const { add } = own.context.ledger;
  const steps = new EventTarget();
  const [begun, released] = [once(steps, 'begun'), once(steps, 'released')];
  vi.spyOn(own.context.ledger, 'add')
    .mockImplementationOnce(async (command) => {
      steps.dispatchEvent(new Event('begun'));
      await released;
      return add(command);
    })
    .mockResolvedValueOnce({ status: 'ERROR_NOT_ENOUGH_MONEY', reason: 'no_money', balance: '0' });
  const slow = apply(url, id, first.dryRunId);
  await begun;
  expect(await apply(url, id, second.dryRunId)).toMatchObject({ repairs: [{ state: 'applying' }] });
  expect(await apply(url, id, other.dryRunId)).toMatchObject(needsApproval);
  steps.dispatchEvent(new Event('released'));
  expect(await slow).toMatchObject({ status: 200, repairs: [{ state: 'applied', amount: '6.00' }] });
  expect(await sql`select sum(amount)::int from entries where operation = 'debit'`).toEqual([{ sum: -600 }]);
});

test('repeating an apply changes nothing when another dry run had the same repairs', async () => {
  const service = await alone();
  const { own, url } = service;
  await using _ = own;
  const id = await missingBets(service, ['1.00', '2.00']);
  const small = await dryRun(url, id, [1]);
  const large = await dryRun(url, id, [1, 2]);
  const { add } = own.context.ledger;
  // The other dry run is applied while the repair of the first one is made.
  vi.spyOn(own.context.ledger, 'add').mockImplementationOnce(async (command) => {
    expect(await apply(url, id, large.dryRunId)).toMatchObject({ status: 200 });
    return add(command);
  });
  expect(await apply(url, id, small.dryRunId)).toMatchObject({ status: 200 });
  for (const { dryRunId } of [small, large])
    expect(await apply(url, id, dryRunId)).toMatchObject({ status: 200 });
});
