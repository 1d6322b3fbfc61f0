import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { jsonLines } from '@platform/wallet-conformance/game-server/statement';
import { expect, test, vi } from 'vitest';
import { createComparer } from '../src/reconciliation/comparing.ts';
import { callerOf } from './factories.ts';
import { missingBets, needsApproval } from './missing-bets.ts';
import { expectSoundLedger } from './proof.ts';
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
  sendStatement,
  shortly,
  withoutMoves,
} from './reconciliations.ts';

interface Event {
  kind: string;
  details: { number?: number; amount?: string; by?: string; status?: string; reason?: string };
}

const eventsOf = async (url: string) => (await getJson<{ events: Event[] }>(url, '/v1/audit/events')).events;

test('a repair needs a dry run, is applied once, and is in the audit trail', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  const { sql } = own.context.database;
  const lines = missingRound(playerId);
  const { reconciliationId: id, differences } = await reconcile(url, lines);
  expect(differences).toMatchObject([
    { number: 1, kind: 'missing_here', repair: 'apply', there: { line: 1, amount: '3.00' }, here: null },
    { number: 2, kind: 'missing_here', repair: 'apply', there: { line: 2, amount: '1.00' }, here: null },
  ]);
  expect(await apply(url, id, randomUUID())).toMatchObject({ status: 404 });
  expect(await dryRun(url, id, [1, 2, 3])).toMatchObject({ status: 404 });
  const tried = await dryRun(url, id, [1, 2]);
  expect(tried.repairs).toMatchObject([
    { number: 2, state: 'open', status: 'OK', amount: '1.00', balance: '999.00' },
    { number: 1, state: 'open', status: 'OK', amount: '3.00', balance: '1002.00' },
  ]);
  expect(tried.sums).toEqual([
    { kind: 'missing_here', operation: 'debit', currency: 'EUR', repairs: 1, amount: '1.00' },
    { kind: 'missing_here', operation: 'credit', currency: 'EUR', repairs: 1, amount: '3.00' },
  ]);
  expect(await sql`select from entries where transaction_id in ('bet', 'win')`).toHaveLength(0);
  for (const _again of [1, 2]) {
    const done = await apply(url, id, tried.dryRunId);
    expect(done.repairs).toMatchObject([
      { number: 2, state: 'applied', status: 'OK' },
      { number: 1, state: 'applied', status: 'OK' },
    ]);
  }
  const entries = await sql`select transaction_id, amount from entries where round_id = 'r' order by seq`;
  expect(entries).toEqual([
    { transaction_id: 'bet', amount: '-100' },
    { transaction_id: 'win', amount: '300' },
  ]);
  const events = await eventsOf(url);
  const recorded = events.map(({ kind, details: { number, amount, status } }) => [
    kind,
    number,
    amount,
    status,
  ]);
  expect(recorded).toEqual([
    ['reconciliation_repair_decided', 1, '3.00', 'OK'],
    ['reconciliation_repair_decided', 2, '1.00', 'OK'],
    ['reconciliation_repair_requested', undefined, undefined, undefined],
    ['reconciliation_dry_run', undefined, undefined, undefined],
    ['reconciliation_requested', undefined, undefined, undefined],
  ]);
});

test('a repair that the ledger refuses moves nothing and says why', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  const found = await reconcile(url, [
    lineOf({ playerId, amount: '5000.00', transactionId: 'much' }),
    lineOf({ playerId, currency: 'USD', transactionId: 'dollars' }),
    lineOf({ playerId: 'nobody', transactionId: 'unknown' }),
    lineOf({ playerId, roundId: '', transactionId: 'no-round' }),
  ]);
  const { reconciliationId: id, differences } = found;
  expect(differences.map(({ repair: proposed }) => proposed)).toEqual([
    'apply',
    'ask_game_server',
    'ask_game_server',
    'ask_game_server',
  ]);
  const refused = { number: 1, state: 'open', status: 'ERROR_NOT_ENOUGH_MONEY', reason: 'no_money' };
  for (const isDryRun of [true, false])
    expect((await repair(url, id, [1], isDryRun)).repairs).toMatchObject([refused]);
  expect(await own.context.database.sql`select from entries where transaction_id = 'much'`).toHaveLength(0);
  // The game server has called nothing.
  expect((await eventsOf(url)).map(({ kind }) => kind)).not.toContain('callback');
  expect((await repair(url, id, [2], false)).repairs).toMatchObject([{ state: 'open', status: null }]);
  expect(
    shortly(await reconcile(url, [lineOf({ playerId, amount: '5000.00', transactionId: 'much' })])),
  ).toEqual(['missing_here much']);
});

test('a round that is closed there and open here is closed by a credit of nothing', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  const caller = callerOf(own, playerId);
  await caller.debit({ transactionId: 'bet', roundId: 'r', amount: '1.00' });
  await caller.credit({ transactionId: 'win', roundId: 'r', amount: '2.00', roundClosed: false });
  const lines = [
    lineOf({ playerId, roundId: 'r', transactionId: 'bet' }),
    lineOf({
      playerId,
      roundId: 'r',
      transactionId: 'win',
      operation: 'credit',
      amount: '2.00',
      roundClosed: true,
    }),
  ];
  const found = await reconcile(url, lines);
  expect(found.differences).toMatchObject([{ kind: 'round_state', repair: 'close_round' }]);
  await repairAll(url, found);
  expect(await getJson(url, `/v1/players/${playerId}/rounds/r`)).toMatchObject({
    status: 'closed',
    result: '1.00',
  });
  expect(await reconcile(url, lines)).toMatchObject({ status: 'done', differences: [] });
});

test('nothing is repaired from a reconciliation that failed', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const { sql } = own.context.database;
  // Only the comparer of this test works.
  await own.context.comparing[Symbol.asyncDispose]();
  const compare = createComparer(sql);
  const sent = await sendStatement(url, jsonLines(missingRound(players[0] ?? '')));
  const id = String(sent.body['reconciliationId']);
  await compare();
  await sql`update reconciliations set differences = 100001`;
  while (await compare());
  expect(await getJson(url, `/v1/reconciliations/${id}`)).toMatchObject({ failure: 'too_many_differences' });
  for (const dryRun of [true, false])
    expect(await repair(url, id, [1, 2], dryRun)).toMatchObject({ status: 409, code: 'failed' });
});

test('a dry run says what applying does, also for transactions of one round', async () => {
  const { own, players, url } = await alone({ CREDIT_UNKNOWN_ROUND: 'reject' });
  await using _ = own;
  const playerId = players[0] ?? '';
  await callerOf(own, playerId).debit({ transactionId: 'reversed', roundId: 's', amount: '7.00' });
  const back = { playerId, roundId: 's', operation: 'rollback', amount: '', roundClosed: false } as const;
  const { reconciliationId: id } = await reconcile(url, [
    ...missingRound(playerId),
    ...missingRound(playerId, { transactionId: 'second win', time: ago(1) }).slice(0, 1),
    lineOf({ playerId, roundId: 's', transactionId: 'reversed', amount: '7.00' }),
    lineOf({ ...back, transactionId: 'back', reverseTransactionId: 'reversed', time: ago(4) }),
    lineOf({ ...back, transactionId: 'back again', reverseTransactionId: 'reversed', time: ago(3) }),
  ]);
  const expected = [
    { number: 2, status: 'OK', reason: null, balance: '992.00' },
    { number: 4, status: 'OK', reason: null, balance: '999.00' },
    { number: 5, status: 'OK', reason: 'already_reversed', balance: '999.00' },
    { number: 1, status: 'OK', reason: null, balance: '1002.00' },
    { number: 3, status: 'ERROR_UNKNOWN', reason: 'round_closed', balance: null },
  ];
  for (const dryRun of [true, false])
    expect((await repair(url, id, [1, 2, 3, 4, 5], dryRun)).repairs).toMatchObject(expected);
  await expectSoundLedger(own);
});

test('a refusal that comes late does not replace the repair of somebody else', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const { ledger, database } = own.context;
  const lines = missingRound(players[0] ?? '');
  const { reconciliationId: id } = await reconcile(url, lines);
  const { dryRunId } = await dryRun(url, id, [2]);
  const refused = Promise.withResolvers<undefined>();
  const applied = Promise.withResolvers<undefined>();
  const { add } = ledger;
  vi.spyOn(ledger, 'add').mockImplementationOnce(async (command) => {
    await database.sql`update games set enabled = false`;
    const outcome = await add(command);
    await database.sql`update games set enabled = true`;
    refused.resolve(undefined);
    await applied.promise;
    return outcome;
  });
  const slow = apply(url, id, dryRunId);
  await refused.promise;
  const isApplied = [{ number: 2, state: 'applied', status: 'OK', reason: null }];
  expect((await apply(url, id, dryRunId)).repairs).toMatchObject(isApplied);
  applied.resolve(undefined);
  expect((await slow).repairs).toMatchObject(isApplied);
  const path = `/v1/reconciliations/${id}/differences`;
  expect(await getJson(url, path)).toMatchObject({ differences: [{ number: 1 }, { state: 'applied' }] });
  expect(shortly(await reconcile(url, lines))).toEqual(['missing_here win']);
});

test('a win waits when its bet is refused although the dry run had accepted it', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const { ledger, database } = own.context;
  const { reconciliationId: id } = await reconcile(url, missingRound(players[0] ?? ''));
  const { dryRunId } = await dryRun(url, id, [1, 2]);
  const { add } = ledger;
  vi.spyOn(ledger, 'add').mockImplementationOnce(async (command) => {
    await database.sql`update games set enabled = false`;
    return add(command);
  });
  expect((await apply(url, id, dryRunId)).repairs).toMatchObject([
    { number: 2, state: 'refused', reason: 'game_unavailable' },
    { number: 1, state: 'refused', reason: 'earlier_first' },
  ]);
  expect(await entriesOf(own)).toEqual([]);
  await database.sql`update games set enabled = true`;
  expect((await repair(url, id, [1, 2], false)).repairs).toMatchObject([
    { state: 'applied' },
    { state: 'applied' },
  ]);
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
});

test('a repair whose process ended after the money had moved is applied once when it is repeated', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const { ledger } = own.context;
  const { reconciliationId: id } = await reconcile(url, missingRound(players[0] ?? ''));
  const { dryRunId } = await dryRun(url, id, [1, 2]);
  const { add } = ledger;
  vi.spyOn(ledger, 'add').mockImplementationOnce(async (command) => {
    await add(command);
    throw new Error('the process has ended');
  });
  expect((await apply(url, id, dryRunId)).status).toBe(500);
  expect(await entriesOf(own)).toEqual(['bet']);
  expect((await apply(url, id, dryRunId)).repairs).toMatchObject([
    { number: 2, state: 'applied' },
    { number: 1, state: 'applied' },
  ]);
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
});

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
