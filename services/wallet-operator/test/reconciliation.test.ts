import { get, type IncomingMessage } from 'node:http';
import { seededRandom } from '@platform/service-kit/testing';
import {
  jsonLines,
  withFaults,
  type StatementLine,
} from '@platform/wallet-conformance/game-server/statement';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { keys, startService, type Running } from './harness.ts';
import { expectSoundLedger } from './proof.ts';
import {
  ago,
  alone,
  apply,
  bearer,
  dryRun,
  entriesOf,
  getJson,
  lineOf,
  missingRound,
  playStatement,
  reconcile,
  repair,
  repairAll,
  sendStatement,
  shortly,
  type Found,
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
  const played: StatementLine[] = [];
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
  const lines: StatementLine[] = [];
  for (const playerId of players) {
    await callerOf(own, playerId).debit({ transactionId: 't-1', roundId: 'r', amount: '1.00' });
    lines.push(lineOf({ playerId, roundId: 'r', transactionId: 't-1' }));
  }
  expect(shortly(await reconcile(url, lines))).toEqual([]);
  expect(shortly(await reconcile(url, lines.slice(1)))).toEqual(['missing_there t-1']);
});

const withdraw = async (url: string, id: string, scope?: string): Promise<number> => {
  const headers = await bearer(scope);
  const answer = await fetch(`${url}/v1/reconciliations/${id}`, { method: 'DELETE', headers });
  return answer.status;
};

test('a wrong statement that is withdrawn keeps no repairs waiting, and none are made from it', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  const mistaken = lineOf({ playerId, roundId: 'r', transactionId: 'wrong column', time: ago(10) });
  const { reconciliationId: wrong } = await reconcile(url, [mistaken]);
  const { dryRunId } = await dryRun(url, wrong, [1]);
  const { reconciliationId: right } = await reconcile(url, missingRound(playerId));
  const waits = [{ number: 2, status: 'OK' }, { reason: 'earlier_first' }];
  expect((await dryRun(url, right, [1, 2])).repairs).toMatchObject(waits);
  // The second time changes nothing.
  for (const _time of [1, 2]) expect(await withdraw(url, wrong)).toBe(204);
  expect(await getJson(url, `/v1/reconciliations/${wrong}`)).toMatchObject({
    status: 'failed',
    failure: 'withdrawn',
    differences: 1,
  });
  for (const refused of [await dryRun(url, wrong, [1]), await apply(url, wrong, dryRunId)])
    expect(refused).toMatchObject({ status: 409, code: 'failed' });
  expect((await repair(url, right, [1, 2], false)).repairs).toMatchObject([
    { state: 'applied' },
    { state: 'applied' },
  ]);
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
  const events = await own.context.database
    .sql`select details from audit_events where kind = 'reconciliation_withdrawn'`;
  expect(events).toEqual([{ details: { by: 'ann', reconciliationId: wrong } }]);
});

test('what was repaired from a withdrawn reconciliation is still known as repaired', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const lines = [lineOf({ playerId: players[0] ?? '', transactionId: 'bet', time: ago(1800) })];
  const found = await reconcile(url, lines);
  await repairAll(url, found);
  expect(await withdraw(url, found.reconciliationId)).toBe(204);
  expect(shortly(await reconcile(url, lines, { from: ago(1860), to: ago(1740) }))).toEqual([]);
});

test('a statement is withdrawn while it is sent', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const part = new TextEncoder().encode(jsonLines([lineOf({ playerId: players[0] ?? '' })]));
  const { promise: withdrawn, resolve } = Promise.withResolvers<undefined>();
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(part),
    pull: async (stream) => {
      await withdrawn;
      stream.enqueue(part);
      stream.close();
    },
  });
  const sent = sendStatement(url, body);
  const list = () => getJson<{ reconciliations: Found[] }>(url, '/v1/reconciliations');
  await expect.poll(async () => (await list()).reconciliations.length).toBe(1);
  const reconciliationId = (await list()).reconciliations[0]?.reconciliationId ?? '';
  expect(await withdraw(url, reconciliationId)).toBe(204);
  resolve(undefined);
  expect(await sent).toMatchObject({ status: 409, body: { code: 'interrupted' } });
  const path = `/v1/reconciliations/${reconciliationId}`;
  expect(await getJson(url, path)).toMatchObject({ status: 'failed', failure: 'withdrawn' });
});

test('only who applies repairs withdraws a reconciliation, and one that nobody knows is 404', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const { reconciliationId } = await reconcile(url, [lineOf({ playerId: players[0] ?? '' })]);
  expect(await withdraw(url, reconciliationId, 'wallet:read wallet:approve')).toBe(403);
  expect(await withdraw(url, '0199b5a0-0000-7000-8000-000000000000')).toBe(404);
  expect(await getJson(url, `/v1/reconciliations/${reconciliationId}`)).toMatchObject({ failure: null });
});

test('downloads that are read slowly do not cause callbacks to be refused, and ten are open at most, two of a caller', async () => {
  await using service = await startService({ variables: { MAX_IN_PROGRESS: '4' } });
  const { sql } = service.context.database;
  await addGame(sql);
  const caller = callerOf(service, await addPlayer(sql));
  const [{ id }] = await sql<[{ id: string }]>`
    insert into reconciliations (created_at, created_by, period_from, period_to, tolerance_s, step, touched_at)
    values (now(), 'test', now(), now(), 0, 'ended', now()) returning reconciliation_id as id`;
  // More than sockets buffer.
  await sql`
    insert into reconciliation_differences (reconciliation_id, number, kind, player_id, transaction_id, repair)
    select ${id}, n, 'missing_here', 'p', repeat('x', 1000), 'ask_game_server' from generate_series(1, 20000) n`;
  const download = async (format: string, sub = 'somebody') => {
    const headers = { Authorization: `Bearer ${await keys.token({ scope: 'wallet:read', sub })}` };
    return new Promise<IncomingMessage>((resolve, reject) => {
      const url = `${service.url}/v1/reconciliations/${id}/differences.${format}`;
      get(url, { headers, agent: false }, resolve).on('error', reject);
    });
  };
  const open: IncomingMessage[] = [];
  for (let at = 0; at < 5; at++) {
    for (const format of ['csv', 'jsonl']) open.push(await download(format, `caller ${at}`));
    const third = await download('csv', `caller ${at}`);
    expect(third.statusCode).toBe(503);
    third.destroy();
  }
  expect(open.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 10 }, () => 200));
  const refused = await download('csv');
  expect(refused.statusCode).toBe(503);
  for (let at = 0; at < 200; at++) expect((await caller.debit({ amount: '0.01' })).status).toBe('OK');
  for (const response of [...open, refused]) response.destroy();
  const next = async () => {
    const response = await download('jsonl');
    response.destroy();
    return response.statusCode;
  };
  await expect.poll(next).toBe(200);
});

test('lines that arrive slowly are stored as they arrive', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const stored = async () => (await sql<{ lines: number }[]>`select lines from reconciliations`)[0]?.lines;
  const line = (transactionId: string) =>
    Buffer.from(`${JSON.stringify({ transactionId, playerId: 'p', operation: 'credit', amount: '1.00' })}\n`);
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(line('first')),
    pull: async (stream) => {
      await expect.poll(stored).toBe(1);
      stream.enqueue(line('second'));
      await expect.poll(stored).toBe(2);
      stream.close();
    },
  });
  expect(await sendStatement(service.url, body)).toMatchObject({ status: 201, body: { lines: 2 } });
});

test('a client that breaks off its statement is no error of the service', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const line = JSON.stringify({ transactionId: 'a', playerId: 'p', operation: 'credit', amount: '1.00' });
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(Buffer.from(`${line}\n`)),
    pull: async (stream) => {
      await expect.poll(() => sql`select from reconciliations where lines = 1`).toHaveLength(1);
      stream.error(new Error('closed'));
    },
  });
  await expect(sendStatement(service.url, body)).rejects.toThrow('fetch failed');
  await expect.poll(() => service.lines.join('')).toContain('client went away');
  await service.context.database.sql`select`;
  expect(service.lines.join('')).not.toContain('internal_error');
});

test('of the five statements that may be open at a time, two of one caller may be on their way', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const line = JSON.stringify({ transactionId: 'a', playerId: 'p', operation: 'credit', amount: '1.00' });
  const ends = Promise.withResolvers<void>();
  const slow = () =>
    sendStatement(
      service.url,
      new ReadableStream<Uint8Array>({
        start: (stream) => stream.enqueue(Buffer.from(`${line}\n`)),
        pull: async (stream) => {
          await ends.promise;
          stream.close();
        },
      }),
    );
  const sent = [slow(), slow()];
  await expect.poll(() => sql`select from reconciliations where lines = 1`).toHaveLength(2);
  const refused = await sendStatement(service.url, line);
  expect(refused).toMatchObject({ status: 409, body: { code: 'too_many_reconciliations' } });
  // As if the caller of one of them were another one.
  await sql`
    update reconciliations set created_by = 'another' where reconciliation_id =
      (select reconciliation_id from reconciliations limit 1)`;
  expect(await sendStatement(service.url, line)).toMatchObject({ status: 201 });
  ends.resolve();
  expect(await Promise.all(sent)).toMatchObject([{ status: 201 }, { status: 201 }]);
});
