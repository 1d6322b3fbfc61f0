import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { createComparer } from '../src/reconciliation/comparing.ts';
import { jsonLines } from '@platform/wallet-conformance/game-server/statement';
import { callerOf } from './factories.ts';
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
} from './reconciliations.ts';

interface Event {
  kind: string;
  details: { number?: number; by?: string; status?: string; reason?: string };
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
  expect(events.map(({ kind, details: { number, status } }) => [kind, number, status])).toEqual([
    ['reconciliation_repair_decided', 1, 'OK'],
    ['reconciliation_repair_decided', 2, 'OK'],
    ['reconciliation_repair_requested', undefined, undefined],
    ['reconciliation_dry_run', undefined, undefined],
    ['reconciliation_requested', undefined, undefined],
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
