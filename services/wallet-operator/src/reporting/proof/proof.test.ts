import { randomUUID } from 'node:crypto';
import postgres, { type ISql } from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { addGame, addPlayer, callerOf } from '../../../test/factories.ts';
import { startService } from '../../../test/harness.ts';
import { person } from '../../../test/people.ts';
import { proofOk, tamper } from '../../../test/proof.ts';

const player = 'ada';
const entry = (tx: ISql, seq: number, operation: string, amount: number, after: number, more: object = {}) =>
  tx`insert into entries ${tx({ player_id: player, seq, operation, transaction_id: randomUUID(), round_id: 'r', amount, balance_after: after, at: '2026-01-01', id_space: 'game', ...more })}`;

const manipulations: [string, (tx: ISql) => Promise<unknown>][] = [
  ['balance_differs', (tx) => tx`update players set balance = balance + 1 where player_id = ${player}`],
  ['sequence_has_gap', (tx) => tx`delete from entries where player_id = ${player} and seq = 2`],
  ['sequence_has_gap', (tx) => tx`update players set seq = seq + 1 where player_id = ${player}`],
  ['entries_without_player', (tx) => tx`delete from players where player_id = ${player}`],
  [
    'balance_after_differs',
    (tx) => tx`update entries set balance_after = 7 where player_id = ${player} and seq = 2`,
  ],
  [
    // Sum, numbers and the newest balance are as they were.
    'balance_after_differs',
    async (tx) => {
      for (const [from, to] of [
        [1, 7],
        [2, 1],
        [7, 2],
      ] as const)
        await tx`update entries set seq = ${to} where player_id = ${player} and seq = ${from}`;
    },
  ],
  [
    'balance_differs',
    (tx) => tx`update entries set amount = amount - 1 where player_id = ${player} and seq = 2`,
  ],
  [
    'balance_differs',
    (tx) => tx`update entries set amount = -9223372036854775807 where player_id = ${player} and seq = 2`,
  ],
  [
    'balance_after_differs',
    (tx) =>
      tx`update entries set amount = 9223372036854775807, balance_after = 0 where player_id = ${player} and seq = 1`,
  ],
  [
    'sequence_has_gap',
    (tx) => tx`update entries set seq = -9223372036854775808 where player_id = ${player} and seq = 1`,
  ],
  ['reversal_without_debit', (tx) => entry(tx, 5, 'rollback', 5, 99_505, { reverses: 'no such debit' })],
  [
    'reversal_without_debit',
    (tx) => entry(tx, 5, 'rollback', 999, 100_499, { reverses: 'the debit', round_id: 'another' }),
  ],
  [
    'debit_reversed_twice',
    async (tx) => {
      await tx`drop index entries_reversal`;
      await entry(tx, 5, 'rollback', 500, 100_000, { reverses: 'the debit', round_id: 'round' });
      await entry(tx, 6, 'rollback', 500, 100_500, { reverses: 'the debit', round_id: 'round' });
    },
  ],
  [
    'tombstone_with_debit',
    async (tx) => {
      await tx`drop index entries_transaction`;
      await entry(tx, 5, 'tombstone', 0, 99_500, { transaction_id: 'the debit' });
    },
  ],
];

test.each(manipulations)('names %s', async (kind, change) => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  await addPlayer(sql, {}, player);
  const caller = callerOf(service, player);
  await caller.debit({ transactionId: 'the debit', roundId: 'round', amount: '5' });
  await caller.rollback();
  const ann = await person(service);
  expect((await ann.get('/v1/audit/proof')).body).toMatchObject({
    ok: true,
    players: 1,
    entries: 4,
    violations: [],
  });
  await tamper(sql, change);
  const { status, body } = await ann.get('/v1/audit/proof');
  expect(status).toBe(200);
  expect(body['ok']).toBe(false);
  expect(body['violations']).toContainEqual(expect.objectContaining({ kind, playerId: player }));
});

test('names only those whose entries do not add up, and the first entry that is wrong', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const callers = await Promise.all(
    Array.from({ length: 30 }, async () => callerOf(service, await addPlayer(sql))),
  );
  const ids = await Promise.all(
    callers.map(async (caller) => {
      for (let count = 0; count < 3; count++) await caller.credit();
      const transactionId = randomUUID();
      await caller.debit({ transactionId });
      for (let count = 0; count < 3; count++) await caller.debit();
      return transactionId;
    }),
  );
  const { playerId } = callers[17] ?? { playerId: '' };
  await tamper(
    sql,
    (tx) => tx`update entries set balance_after = balance_after + 1 where transaction_id = ${ids[17] ?? ''}`,
  );
  const { body } = await (await person(service)).get('/v1/audit/proof');
  expect(body).toMatchObject({ ok: false, players: 30, entries: 30 * 8 });
  expect(body['violations']).toEqual([
    {
      kind: 'balance_after_differs',
      playerId,
      transactionId: expect.any(String),
      detail: expect.any(String),
    },
  ]);
  expect((body['violations'] as { transactionId: string }[])[0]?.transactionId).toBe(ids[17]);
});

test('a hundred violations are named of a ledger that is all wrong', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  for (let at = 0; at < 120; at++) await addPlayer(sql);
  await tamper(sql, (tx) => tx`update players set balance = balance + 1`);
  const { body } = await (await person(service)).get('/v1/audit/proof');
  expect(body).toMatchObject({ ok: false, players: 120, entries: 120 });
  expect(body['violations']).toHaveLength(100);
});

const provingEverySecond = { variables: { PROVE_EVERY_S: '1' } };

test('the ledger is proved without a request, and metrics and log show that it no longer adds up', async () => {
  await using service = await startService(provingEverySecond);
  const { sql } = service.context.database;
  const metric = () => proofOk(service);
  await expect.poll(metric).toBe('1');
  await addPlayer(sql, {}, player);
  await tamper(sql, (tx) => tx`update players set balance = balance + 1 where player_id = ${player}`);
  await expect.poll(metric).toBe('0');
  expect(service.lines.some((line) => line.includes('found violations'))).toBe(true);
});

test('a stop does not wait for a proof in progress, and reports no failure', async () => {
  await using service = await startService(provingEverySecond);
  const holder = postgres(service.databaseUrl, { max: 2, onnotice: () => undefined });
  onTestFinished(() => holder.end({ timeout: 0 }));
  const locked = await holder.reserve();
  await locked`begin`;
  await locked`lock table entries in access exclusive mode`;
  const waiting = async (): Promise<number> =>
    (
      await holder`select from pg_stat_activity where datname = current_database()
        and application_name like 'wallet-operator:slow:%' and wait_event_type = 'Lock'`
    ).length;
  await expect.poll(waiting).toBe(1);
  await service.context.proving[Symbol.asyncDispose]();
  await service.context.slow[Symbol.asyncDispose]();
  const locks = await holder`select from pg_locks where relation = 'entries'::regclass and granted
    and database = (select oid from pg_database where datname = current_database())`;
  expect(locks).toHaveLength(1);
  // Another task may have waited for the lock for too long.
  const failures = service.lines.filter((line) => line.includes('background task failed'));
  expect(failures.filter((line) => line.includes('"task":"proof"'))).toEqual([]);
});
