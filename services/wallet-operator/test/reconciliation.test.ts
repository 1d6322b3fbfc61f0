import { seededRandom } from '@platform/service-kit/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonLines, withFaults, type Line } from '@platform/wallet-conformance/game-server/statement';
import { addGame, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';
import { expectSoundLedger } from './proof.ts';
import {
  alone,
  lineOf,
  playStatement,
  reconcile,
  repairAll,
  sendStatement,
  shortly,
} from './reconciliations.ts';

let service: Running;
beforeAll(async () => {
  service = await startService();
  await addGame(service.context.database.sql);
});
afterAll(async () => {
  await expectSoundLedger(service);
  await service[Symbol.asyncDispose]();
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
  const played: Line[] = [];
  const unsent = new Set<string>();
  const seeded = () => withFaults(played, 0.4, random, unsent);
  let { lines, faults } = seeded();
  const namesOf = () => new Set(faults.map(({ kind, operation }) => `${kind} of a ${operation}`));
  // Each kind of each operation, except that debits do not say whether they close the round.
  while (namesOf().size < 3 * 9 - 1) {
    const rates = { giveUpRate: 0.3, lossRate: 0.1 };
    played.push(...(await playStatement(own, players, 20, { random, ...rates, unsent })));
    ({ lines, faults } = seeded());
  }
  const expected = faults.map(({ kind, transactionId }) => `${kind} ${transactionId}`).toSorted();
  const found = await reconcile(url, lines);
  const last = lines.reduce((latest, { time }) => (time > latest ? time : latest), '');
  expect(found.lines).toBe(lines.length);
  expect(shortly(found), `the last line is of ${last}, the period ends ${found.to}`).toEqual(expected);

  await repairAll(url, found);
  const repaired = await reconcile(url, lines);
  expect(shortly(repaired)).toEqual(expected.filter((fault) => !fault.startsWith('missing_here')));
  // The game server corrects its statement; the transactions that it alone had are ours now.
  expect(await reconcile(url, played)).toMatchObject({ status: 'done', differences: [] });
  await expectSoundLedger(own);
});

test('a rollback whose bet only we have is missing here, and the bet is not missing there', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  await callerOf(own, playerId).debit({ transactionId: 'bet', roundId: 'r', amount: '1.00' });
  const back = { operation: 'rollback', transactionId: 'back', reverseTransactionId: 'bet' } as const;
  const lines = [lineOf({ ...back, playerId, roundId: 'r', amount: '', roundClosed: true })];
  const found = await reconcile(url, lines);
  expect(shortly(found)).toEqual(['missing_here back']);
  await repairAll(url, found);
  expect(await reconcile(url, lines)).toMatchObject({ status: 'done', differences: [] });
});

test('the result says how many lines state each field, because a line is compared in no other', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [first, second] = [
    lineOf({ playerId: players[0] ?? '', currency: '', time: '' }),
    lineOf({ playerId: 'x', time: '' }),
  ];
  const { fields } = await reconcile(url, [first, second]);
  expect(Object.fromEntries(fields.map(({ field, lines }) => [field, lines]))).toEqual({
    transactionId: 2,
    playerId: 2,
    operation: 2,
    amount: 2,
    currency: 1,
    roundId: 2,
    gameCode: 2,
    roundClosed: 0,
    reverseTransactionId: 0,
    time: 0,
  });
  const text = 'transactionId,playerId,operation,amount,currency\nt,p,debit,1.00,\n';
  const csv = await reconcile(url, text, {}, 'text/csv');
  expect(csv.fields.filter(({ lines }) => lines > 0).map(({ field }) => field)).toEqual([
    'transactionId',
    'playerId',
    'operation',
    'amount',
  ]);
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
  const lines = [
    lineOf({ playerId, time }),
    lineOf({ playerId, roundId: 'r', transactionId: 'old', amount: '9.00' }),
  ];
  await expect.poll(() => new Date().toISOString() > to).toBe(true);
  expect(await reconcile(url, lines, { from, to })).toMatchObject({ status: 'done', differences: [] });
});

test('a statement of another period is refused, because nothing of it would be compared', async () => {
  const time = '2001-01-02T10:00:00.000Z';
  const lines = [lineOf({ playerId: 'p', time }), lineOf({ playerId: 'p', time })];
  const send = (from: string, to: string, tolerance = '0') =>
    sendStatement(service.url, jsonLines(lines), { from, to, tolerance });
  const before = ['2001-01-02T09:00:00.000Z', '2001-01-02T09:59:00.000Z'] as const;
  expect(await send(...before)).toMatchObject({
    status: 400,
    body: {
      errors: { from: [`no line lies between \`from\` and \`to\`; the time of the first line is ${time}`] },
    },
  });
  expect(await send(...before, '61')).toMatchObject({ status: 201 });
  expect(await send(time, '2001-01-02T10:01:00.000Z')).toMatchObject({ status: 201 });
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
