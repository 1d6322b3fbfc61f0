import { randomUUID } from 'node:crypto';
import postgres, { type ISql, type Sql } from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '@platform/service-kit/db';
import { playRounds, seal, startSealingService } from '../../../test/evidence.ts';
import { addGame, addPlayer, callerOf } from '../../../test/factories.ts';
import { startService } from '../../../test/harness.ts';
import { closeDays, newestFinishedDay } from '../summary/queries.ts';
import { checkUnsealed } from './proof.ts';
import { checkWholeLedger } from './proving.ts';
import { person } from '../../../test/people.ts';

/** What somebody with the owner's rights could do to the data; the trigger does not see it. */
const tamper = (sql: Sql, change: (tx: ISql) => Promise<unknown>) =>
  sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await change(tx);
  });

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

/** Proves every second, and walks over all that is sealed in less than two. */
const fast = { PROVE_EVERY_S: '1', SEAL_WALK_DAYS: '0.00002' };

const proofOk = async ({ url }: { url: string }): Promise<string | undefined> =>
  /^wallet_proof_ok (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];

/** A sealed ledger with sums of its days, of which somebody with the owner's rights changes something. */
const sealedLedger = async (variables: Record<string, string> = {}) => {
  const service = await startSealingService(variables);
  const { sql } = service.context.database;
  const round = await playRounds(service);
  await tamper(sql, async (tx) => {
    await tx`update entries set at = at - interval '2 days'`;
    await tx`update rounds set opened_at = opened_at - interval '2 days', closed_at = closed_at - interval '2 days'`;
  });
  await closeDays(sql, await newestFinishedDay(sql));
  await seal(sql);
  return { service, sql, ...round };
};

/** An old entry, all later balances, and the sums of the days. */
const rewrite = async (tx: ISql, playerId: string, by: number): Promise<void> => {
  await tx`update entries set amount = amount + ${by} where player_id = ${playerId} and seq = 1`;
  await tx`update entries set balance_after = balance_after + ${by} where player_id = ${playerId}`;
  await tx`update players set balance = balance + ${by} where player_id = ${playerId}`;
  await tx`update daily_sums set closing = closing + ${by}, deposits = deposits + ${by} where game_code = ''`;
};

test('a rewritten entry with all later balances and sums passes the proof, the walk finds it, and no restart resolves it', async () => {
  const { service, sql, playerId } = await sealedLedger();
  await using _ = service;
  await tamper(sql, (tx) => rewrite(tx, playerId, 100));
  expect((await (await person(service)).get('/v1/audit/proof')).body).toMatchObject({ ok: true });
  {
    await using walking = await startService({ databaseUrl: service.databaseUrl, variables: fast });
    await expect.poll(() => proofOk(walking)).toBe('0');
    expect(walking.lines.join('')).toContain('the walk over the sealed entries found violations');
  }
  await using restarted = await startService({ databaseUrl: service.databaseUrl });
  await expect.poll(() => proofOk(restarted)).toBe('0');
  const { body } = await (await person(restarted)).get('/v1/audit/proof');
  expect(body).toMatchObject({ ok: false, violations: [{ kind: 'checkpoint_differs' }] });
  await tamper(sql, (tx) => rewrite(tx, playerId, -100));
  expect((await (await person(restarted)).get('/v1/audit/proof')).body).toMatchObject({ ok: false });
  // A walk that begins now finds nothing.
  await using again = await startService({ databaseUrl: service.databaseUrl, variables: fast });
  await expect.poll(() => proofOk(again)).toBe('1');
  expect((await (await person(restarted)).get('/v1/audit/proof')).body).toMatchObject({
    ok: true,
    violations: [],
  });
});

const damages: [string, string, (tx: ISql) => Promise<unknown>][] = [
  ['a changed currency', 'checkpoint_differs', (tx) => tx`update players set currency = 'JPY'`],
  ['a round that is open again', 'round_state_differs', (tx) => tx`update rounds set closed_at = null`],
  ['a changed sum of a day', 'daily_sum_differs', (tx) => tx`update daily_sums set wins = wins + 1`],
  [
    'a checkpoint with another time',
    'checkpoint_differs',
    (tx) => tx`update sealed_ranges set sealed_at = now()`,
  ],
  ['a removed entry', 'sequence_has_gap', (tx) => tx`delete from entries where seq = 2`],
];

test.each(damages)('the walk finds %s', async (_name, kind, change) => {
  const { service, sql } = await sealedLedger(fast);
  await using _ = service;
  await expect.poll(() => proofOk(service)).toBe('1');
  await tamper(sql, change);
  await expect.poll(() => proofOk(service)).toBe('0');
  const known = async () =>
    ((await (await person(service)).get('/v1/audit/proof')).body['violations'] ?? []) as object[];
  await expect.poll(known).toContainEqual(expect.objectContaining({ kind }));
});

test('the proof finds that the newest checkpoint was removed', async () => {
  const { service, sql } = await sealedLedger();
  await using _ = service;
  await tamper(
    sql,
    (tx) => tx`delete from sealed_ranges where number = (select max(number) from sealed_ranges)`,
  );
  const { body } = await (await person(service)).get('/v1/audit/proof');
  expect(body['violations']).toContainEqual(expect.objectContaining({ kind: 'checkpoint_differs' }));
});

test('a violation of entries that are sealed afterwards stays known', async () => {
  const { service, sql, playerId } = await sealedLedger();
  await using _ = service;
  await callerOf(service, playerId).debit();
  await callerOf(service, playerId).debit();
  await tamper(
    sql,
    (tx) => tx`update entries set balance_after = 7 where player_id = ${playerId} and seq = 6`,
  );
  const ann = await person(service);
  expect((await ann.get('/v1/audit/proof')).body).toMatchObject({ ok: false });
  await seal(sql);
  expect((await ann.get('/v1/audit/proof')).body).toMatchObject({
    ok: false,
    violations: [{ kind: 'balance_after_differs', playerId }],
  });
});

/** Rows of the ledger that the proof reads, by index and in other ways. */
const rowsRead = async (sql: Sql): Promise<number> => {
  const read = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<[{ rows: number }]>`
      select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_user_tables
      where relname in ('entries', 'sealed_runs', 'sealed_ranges', 'rounds')`;
    return row.rows;
  };
  const before = await read();
  await checkUnsealed(sql);
  return (await read()) - before;
};

test('the proof reads no more rows of a ledger whose sealed part is five times as large', async () => {
  await using service = await startSealingService();
  await using one = openDatabase({ url: service.databaseUrl, name: 'test', max: 1 });
  const { sql } = one;
  await sql`insert into players (player_id, currency, balance, seq, created_at)
    select 'many-' || n, 'EUR', 0, 0, now() from generate_series(1, 20) n`;
  const grow = async (from: number, to: number): Promise<void> => {
    await sql`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
      select player_id, n, 'deposit', player_id || '-' || n, 1, n, now(), 'operator'
      from players, generate_series(${from}::int, ${to}::int) n`;
    await sql`update players set balance = ${to}, seq = ${to}`;
    await seal(sql);
    await sql`analyze`;
  };
  await grow(1, 200);
  const small = await rowsRead(sql);
  await grow(201, 1000);
  expect(await rowsRead(sql)).toBe(small);
  expect(small).toBeLessThan(20 * 5 + 10);
  expect(await checkWholeLedger(sql)).toMatchObject({ ok: true, players: 20, entries: 20_000 });
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
