import { randomUUID } from 'node:crypto';
import { seededRandom } from '@platform/service-kit/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withFaults, type Line } from '../src/stand-in/statement.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';
import { expectSoundLedger } from './proof.ts';
import { getJson, playStatement, reconcile, repair, repairAll, shortly } from './reconciliations.ts';

let service: Running;
beforeAll(async () => {
  service = await startService();
  await addGame(service.context.database.sql);
});
afterAll(async () => {
  await expectSoundLedger(service);
  await service[Symbol.asyncDispose]();
});

/** A service of its own: every entry of the hour belongs to the statement. */
const alone = async (variables: Record<string, string> = {}) => {
  const own = await startService({ variables });
  await addGame(own.context.database.sql);
  const players = await Promise.all([1, 2, 3].map(() => addPlayer(own.context.database.sql)));
  return { own, players, url: own.url };
};

const lineOf = (fields: Partial<Line>): Line => ({
  transactionId: randomUUID(),
  playerId: '',
  operation: 'debit',
  amount: '1.00',
  currency: 'EUR',
  roundId: randomUUID(),
  gameCode: 'dice-alpha',
  roundClosed: '',
  reverseTransactionId: '',
  // Before the end of the period, which is the present.
  time: new Date(Date.now() - 2000).toISOString(),
  ...fields,
});

test('a statement of what was played has no difference, also when answers were lost', async () => {
  const { own, players } = await alone();
  await using _ = own;
  const lines = await playStatement(own, players, 6, { random: seededRandom(), dropRate: 0.5 });
  expect(await reconcile(own.url, lines)).toMatchObject({
    status: 'done',
    lines: lines.length,
    differences: [],
  });
});

test('every seeded fault is found and no other, and the repairs leave only what the game server must correct', async () => {
  const random = seededRandom();
  const { own, players, url } = await alone();
  await using _ = own;
  const played = await playStatement(own, players, 60, { random });
  const { lines, faults } = withFaults(played, 0.4, random);
  const expected = faults.map(({ kind, transactionId }) => `${kind} ${transactionId}`).toSorted();
  expect(new Set(faults.map(({ kind }) => kind)).size).toBe(9);
  const found = await reconcile(url, lines);
  expect(shortly(found)).toEqual(expected);

  await repairAll(url, found);
  const repaired = await reconcile(url, lines);
  expect(shortly(repaired)).toEqual(expected.filter((fault) => !fault.startsWith('missing_here')));
  // The game server corrects its statement: the transactions that it alone had are ours now.
  const added = lines.filter(({ transactionId }) =>
    played.every((one) => one.transactionId !== transactionId),
  );
  expect(await reconcile(url, [...played, ...added])).toMatchObject({ status: 'done', differences: [] });
  await expectSoundLedger(own);
});

test('a debit and its rollback cancel out, whichever side lacks both', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  const caller = callerOf(own, playerId);
  const roundId = 'r';
  const [here, there, late] = ['here', 'there', 'late'];
  await caller.debit({ transactionId: here, roundId, amount: '1.00' });
  await caller.rollback({ transactionId: 'here-back', reverseTransactionId: here, roundId });
  // A rollback that came before its debit.
  await caller.rollback({ transactionId: 'late-back', reverseTransactionId: late, roundId });
  const back = { operation: 'rollback', playerId, roundId, amount: '' } as const;
  const both = [
    lineOf({ playerId, roundId, transactionId: there }),
    lineOf({ ...back, transactionId: 'there-back', reverseTransactionId: there }),
    lineOf({ playerId, roundId, transactionId: late }),
    lineOf({ ...back, transactionId: 'late-back', reverseTransactionId: late }),
  ];
  expect(shortly(await reconcile(url, both))).toEqual([]);

  // With one half of each pair the money differs.
  await caller.debit({ transactionId: 'standing', roundId, amount: '1.00' });
  const halves = [
    lineOf({ playerId, roundId, transactionId: here }),
    lineOf({ playerId, roundId, transactionId: there }),
    lineOf({ playerId, roundId, transactionId: 'standing' }),
    lineOf({ ...back, transactionId: 'standing-back', reverseTransactionId: 'standing' }),
    lineOf({ playerId, roundId, transactionId: late }),
  ];
  const found = await reconcile(url, halves);
  expect(shortly(found)).toEqual([
    'missing_here late',
    'missing_here standing-back',
    'missing_here there',
    'missing_there here-back',
  ]);
  // The tombstone of a rollback forbids its debit forever.
  expect(found.differences.find(({ transactionId }) => transactionId === late)?.repair).toBe(
    'ask_game_server',
  );
});

test('transactions outside of the period only serve to match those inside', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  await callerOf(own, playerId).debit({ transactionId: 'old', roundId: 'r', amount: '1.00' });
  const time = new Date(Date.now() - 60_000_000).toISOString();
  const from = new Date().toISOString();
  const to = new Date(Date.now() + 1).toISOString();
  const lines = [lineOf({ playerId, time }), lineOf({ playerId, roundId: 'r', transactionId: 'old' })];
  await expect.poll(() => new Date().toISOString() > to).toBe(true);
  expect(await reconcile(url, lines, { from, to })).toMatchObject({ status: 'done', differences: [] });
});

test('a repair needs a dry run, is applied once, and is in the audit trail', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  const { sql } = own.context.database;
  const roundId = 'r';
  const lines = [
    // The newest first: the repairs are made in the order of the times.
    lineOf({
      playerId,
      roundId,
      operation: 'credit',
      amount: '3.00',
      roundClosed: true,
      transactionId: 'win',
    }),
    lineOf({ playerId, roundId, transactionId: 'bet', time: new Date(Date.now() - 5000).toISOString() }),
  ];
  const { reconciliationId: id, differences } = await reconcile(url, lines);
  expect(differences).toMatchObject([
    { number: 1, kind: 'missing_here', repair: 'apply', there: { line: 1, amount: '3.00' }, here: null },
    { number: 2, kind: 'missing_here', repair: 'apply', there: { line: 2, amount: '1.00' }, here: null },
  ]);
  expect(await repair(url, id, [1, 2], false)).toMatchObject({ status: 409, code: 'dry_run_first' });
  expect(await repair(url, id, [1, 2, 3], true)).toMatchObject({ status: 404 });
  const tried = await repair(url, id, [1, 2], true);
  expect(tried.repairs).toMatchObject([
    { number: 2, state: 'open', status: 'OK', balance: '999.00' },
    { number: 1, state: 'open', status: 'OK', balance: '1002.00' },
  ]);
  expect(await sql`select from entries where transaction_id in ('bet', 'win')`).toHaveLength(0);
  for (const _again of [1, 2]) {
    const done = await repair(url, id, [1, 2], false);
    expect(done.repairs).toMatchObject([
      { number: 2, state: 'applied', status: 'OK' },
      { number: 1, state: 'applied', status: 'OK' },
    ]);
  }
  const entries =
    await sql`select transaction_id, amount from entries where round_id = ${roundId} order by seq`;
  expect(entries).toEqual([
    { transaction_id: 'bet', amount: '-100' },
    { transaction_id: 'win', amount: '300' },
  ]);
  const { events } = await getJson<{
    events: { kind: string; playerId: string; details: { number?: number } }[];
  }>(url, '/v1/audit/events');
  expect(events.map(({ kind, details: { number } }) => [kind, number])).toEqual([
    ['reconciliation_repair_requested', 1],
    ['reconciliation_repair_requested', 2],
    ['reconciliation_dry_run', undefined],
    ['reconciliation_requested', undefined],
  ]);
  // The entries are in the period of today, and not in the statement of today.
  expect(await reconcile(url, [])).toMatchObject({ status: 'done', differences: [] });
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
  const refused = { number: 1, status: 'ERROR_NOT_ENOUGH_MONEY', reason: 'no_money' };
  expect((await repair(url, id, [1], true)).repairs).toMatchObject([{ ...refused, state: 'open' }]);
  expect((await repair(url, id, [1], false)).repairs).toMatchObject([{ ...refused, state: 'refused' }]);
  await repair(url, id, [2], true);
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

test('ids that are unique for each player only are compared for each player', async () => {
  const { own, players, url } = await alone({ TRANSACTION_ID_SCOPE: 'player' });
  await using _ = own;
  const lines: Line[] = [];
  for (const playerId of players) {
    await callerOf(own, playerId).debit({ transactionId: 't-1', roundId: 'r', amount: '1.00' });
    lines.push(lineOf({ playerId, roundId: 'r', transactionId: 't-1' }));
  }
  expect(shortly(await reconcile(url, lines))).toEqual([]);
  expect(shortly(await reconcile(url, lines.slice(1)))).toEqual(['missing_there t-1']);
});
