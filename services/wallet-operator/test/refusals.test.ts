import { randomUUID } from 'node:crypto';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import postgres, { type ISql, type Sql } from 'postgres';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import type { z } from 'zod';
import type { Refusal } from '../src/reporting/refusals.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { call, secret, startService } from './harness.ts';
import { limitedPlayer } from './limited-player.ts';
import { person } from './people.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());
const { sql } = service.context.database;
await addGame(sql);
const reader = await person(service, 'wallet:read');
const admin = await person(service);

const listed = async (query: Record<string, string>) =>
  (await reader.get(`/v1/refusals?${new URLSearchParams(query).toString()}`)).body['refusals'] as z.output<
    typeof Refusal
  >[];

const auditOf = async (playerId: string) =>
  (await admin.get(`/v1/audit/events?playerId=${playerId}`)).body['events'] as { details: object }[];

test('a refused bet is listed with its cause and the money, and is not in the audit trail', async () => {
  const { playerId, ...caller } = callerOf(service, await addPlayer(sql, { balance: 500 }));
  const bet = { transactionId: randomUUID(), roundId: "r'\n".trim(), amount: '5.01' };
  const before = Date.now() - 60_000;
  expect((await caller.debit(bet)).status).toBe('ERROR_NOT_ENOUGH_MONEY');
  const [refusal, ...others] = await listed({ playerId });
  expect(others).toEqual([]);
  expect(refusal).toEqual({
    ...bet,
    refusalId: expect.stringMatching(/^[\da-f-]{36}$/),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
    callback: 'debit',
    playerId,
    currency: 'EUR',
    status: 'ERROR_NOT_ENOUGH_MONEY',
    cause: 'no_money',
    balance: '5.00',
    limit: null,
    field: null,
  });
  expect(Date.parse(refusal?.at ?? '')).toBeGreaterThan(before);
  expect(await auditOf(playerId)).toEqual([]);
});

test('a bet beyond a limit is listed with the limit and what was left of it', async () => {
  const player = await limitedPlayer(service, admin);
  await player.set({ loss: { '24h': '12.00' } });
  await player.debit({ amount: '10.00' });
  await player.debit({ amount: '2.01' });
  expect(await listed({ playerId: player.playerId, cause: 'limit_reached' })).toMatchObject([
    {
      amount: '2.01',
      balance: '990.00',
      limit: { kind: 'loss', period: '24h', limit: '12.00', remaining: '2.00' },
    },
  ]);
});

test('refusals are found by their transaction, whoever the player is', async () => {
  const transactionId = randomUUID();
  const players = [randomUUID(), await addPlayer(sql, { balance: 0 })];
  for (const playerId of players) await callerOf(service, playerId).debit({ transactionId });
  await callerOf(service, randomUUID()).debit({});
  expect((await listed({ transactionId })).map(({ playerId }) => playerId)).toEqual(players.toReversed());
});

test.each([
  ['a bet of an unknown player', 'debit', 'player_unknown'],
  ['a launch of an unknown player', 'authenticate', 'player_unknown'],
  ['a balance of an unknown player', 'balance', 'player_unknown'],
] as const)('%s is listed', async (_what, callback, cause) => {
  const caller = callerOf(service, randomUUID());
  await caller[callback]();
  expect(await listed({ playerId: caller.playerId })).toMatchObject([{ callback, cause, currency: null }]);
});

test('a win in a closed round, and a win whose id a rollback has used up, are in the list and in the audit trail', async () => {
  const caller = callerOf(service, await addPlayer(sql));
  const { playerId } = caller;
  const [roundId, transactionId] = [randomUUID(), randomUUID()];
  await caller.credit({ roundId });
  await caller.credit({ roundId });
  await caller.rollback({ reverseTransactionId: transactionId });
  await caller.credit({ transactionId });
  await caller.debit({ transactionId });
  await caller.debit({ roundId });
  const causes = ['round_closed', 'tombstoned', 'tombstoned', 'round_closed'];
  expect((await listed({ playerId })).map(({ cause }) => cause)).toEqual(causes);
  expect((await auditOf(playerId)).map(({ details }) => details)).toMatchObject([
    { operation: 'credit', reason: 'tombstoned' },
    { operation: 'rollback', reason: 'nothing_to_reverse', status: 'OK' },
    { operation: 'credit', reason: 'round_closed' },
  ]);
});

test('a callback with a wrong syntax is listed with the field and its valid ids', async () => {
  const playerId = await addPlayer(sql);
  const refused = async (callback: string, body: object | string) => {
    expect(await call(service.url, callback, body)).toMatchObject({
      http: 200,
      status: 'ERROR_WRONG_SYNTAX',
    });
  };
  const bet = { requestId: 'q', playerId, transactionId: 't', roundId: 'r', gameCode: 'dice-alpha' };
  await refused('debit', { ...bet, amount: '1e3', roundId: 'line\nend' });
  // A wrong syntax is written after its answer, a decision before it.
  await vi.waitFor(async () => expect(await listed({ playerId })).toHaveLength(1));
  await refused('rollback', { ...bet, gameId: 'g', roundClosed: false, reverseTransactionId: 't' });
  expect(await listed({ playerId })).toMatchObject([
    { callback: 'rollback', cause: 'reverses_itself', field: 'reverseTransactionId' },
    { callback: 'debit', cause: 'wrong_syntax', field: 'roundId', roundId: null, transactionId: 't' },
  ]);
  const from = new Date().toISOString();
  for (const body of ['no JSON', '[]', '"\\u0000"']) await refused('credit', body);
  await vi.waitFor(async () => expect(await listed({ from, cause: 'wrong_syntax' })).toHaveLength(3));
  expect(await listed({ from })).toMatchObject(
    Array.from({ length: 3 }, () => ({ callback: 'credit', playerId: null, field: null })),
  );
});

test('nothing is written for a callback with a wrong signature or a body that is too large', async () => {
  const from = new Date().toISOString();
  const signatures = createRequestSignatures({ secrets: { current: 'another secret of tests' } });
  const right = createRequestSignatures({ secrets: { current: secret } });
  const path = '/callback/debit';
  const large = JSON.stringify({ requestId: 'x'.repeat(100_001) });
  for (const [body, headers] of [
    ['{}', signatures.headers(path, '{}')],
    ['{}', {}],
    [large, right.headers(path, large)],
  ] as const)
    await fetch(service.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });
  // The writer keeps the order, so what came before would be there.
  await call(service.url, 'debit', '{}');
  await vi.waitFor(async () => expect(await listed({ from })).not.toEqual([]));
  expect(await listed({ from })).toMatchObject([{ field: 'requestId' }]);
});

test('the list is filtered by player, round, cause and time, in pages', async () => {
  const caller = callerOf(service, await addPlayer(sql, { balance: 0 }));
  const { playerId } = caller;
  const roundId = randomUUID();
  const from = new Date().toISOString();
  for (let bet = 0; bet < 3; bet++) await caller.debit({ roundId });
  await caller.debit({ gameCode: 'none' });
  expect(await listed({ playerId })).toHaveLength(4);
  expect(await listed({ roundId })).toHaveLength(3);
  expect(await listed({ playerId, cause: 'game_unavailable' })).toHaveLength(1);
  expect(await listed({ playerId, from })).toHaveLength(4);
  expect(await listed({ playerId, to: from })).toEqual([]);
  const pages = await Promise.all(
    [1, 2].map((page) => reader.get(`/v1/refusals?playerId=${playerId}&limit=3&page=${page}`)),
  );
  expect(pages.map(({ body }) => (body['refusals'] as unknown[]).length)).toEqual([3, 1]);
  for (const query of ['cause=', 'from=yesterday', 'playerId=%00', 'until=1'])
    expect((await reader.get(`/v1/refusals?${query}`)).status).toBe(400);
  const stranger = await person(service, 'stores:read');
  expect((await stranger.get('/v1/refusals')).status).toBe(403);
});

/** A database with refusals of today and of `days` ago, and a connection of the run-time role. */
const agedDatabase = async (days: number) => {
  const aged = await startService();
  onTestFinished(() => aged[Symbol.asyncDispose]());
  const owner = aged.context.database.sql;
  await addGame(owner);
  const caller = callerOf(aged, await addPlayer(owner, { balance: 0 }));
  const role = `keeper_${randomUUID().slice(0, 8)}`;
  await owner.unsafe(`
    create table refusals_20200101 (like refusals including all);
    alter table refusals attach partition refusals_20200101
      for values from (first_id_of('2020-01-01Z')) to (first_id_of('2020-01-02Z'));
    insert into refusals (refusal_id, callback, status, cause)
      values (first_id_of('2020-01-01 12:00Z'), 'debit', 'ERROR_UNKNOWN', 'old');
    create role ${role};
    grant usage on schema tested to ${role};
    grant select, insert, update, delete on all tables in schema tested to ${role};
    grant execute on all functions in schema tested to ${role};`);
  const keeper = postgres(aged.databaseUrl, { max: 1, onnotice: () => undefined });
  onTestFinished(async () => {
    await keeper.end();
    await owner.unsafe(`drop owned by ${role}; drop role ${role}`);
  });
  await keeper.unsafe(`set role ${role}`);
  return { aged, owner, caller, keep: () => keeper`select keep_refusal_days(${days}::int)` };
};

const partitionsOf = async (on: ISql) =>
  (
    await on<{ name: string }[]>`select inhrelid::regclass::text as name from pg_inherits
    where inhparent = 'refusals'::regclass order by 1`
  ).map(({ name }) => name);

test('the run-time role removes the days before REFUSALS_DAYS, which is all that it may change in the table', async () => {
  const { owner, caller, keep } = await agedDatabase(90);
  await caller.debit();
  expect(await partitionsOf(owner)).toContain('refusals_20200101');
  await keep();
  const days = await partitionsOf(owner);
  expect(days).not.toContain('refusals_20200101');
  expect(days.length).toBeGreaterThanOrEqual(8);
  expect(await owner`select cause from refusals`).toMatchObject([{ cause: 'no_money' }]);
  await keep();
  expect(await partitionsOf(owner)).toEqual(days);
});

test('the run-time role cannot have the refusals of the last week removed', async () => {
  for (const days of [-100, 0, 6]) {
    const { owner, keep } = await agedDatabase(days);
    await expect(keep()).rejects.toMatchObject({ code: 'P0001' });
    expect(await owner`select cause from refusals`).toMatchObject([{ cause: 'old' }]);
  }
});

test('removing a day waits for no callback: it is emptied, and dropped once no callback uses the table', async () => {
  const { owner, keep } = await agedDatabase(90);
  await owner.begin(async (callback) => {
    await callback`insert into refusals (callback, status, cause) values ('debit', 'ERROR_UNKNOWN', 'new')`;
    await keep();
    expect(await partitionsOf(callback)).toContain('refusals_20200101');
    expect(await callback`select cause from refusals`).toMatchObject([{ cause: 'new' }]);
  });
  await keep();
  expect(await partitionsOf(owner)).not.toContain('refusals_20200101');
});

test('a callback is decided while a day is added, and on a day without a partition', async () => {
  const { owner, caller } = await agedDatabase(90);
  const [newest = ''] = (await partitionsOf(owner)).slice(-1);
  await owner.unsafe(`drop table ${newest}, refusals_20200101`);
  await owner.begin(async (keeping) => {
    await keeping`select keep_refusal_days(90)`;
    expect((await caller.debit()).status).toBe('ERROR_NOT_ENOUGH_MONEY');
  });
  for (const day of await partitionsOf(owner)) await owner.unsafe(`drop table ${day}`);
  expect((await caller.debit()).status).toBe('ERROR_NOT_ENOUGH_MONEY');
  expect(await owner`select from refusals`).toEqual([]);
});

const auditDetails = async (sql: Sql) =>
  (await sql<{ details: object }[]>`select details from audit_events order by event_id`).map(
    ({ details }) => details,
  );

test('wins and rollbacks beyond the largest balance are in the audit trail', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const caller = callerOf(service, await addPlayer(sql, { balance: 2n ** 63n - 1n }));
  const bet = randomUUID();
  await caller.credit({ amount: '0.01' });
  await caller.debit({ transactionId: bet, amount: '1.00' });
  await caller.credit({ amount: '0.50' });
  await caller.rollback({ reverseTransactionId: bet });
  expect(await auditDetails(sql)).toMatchObject([
    { operation: 'credit', reason: 'balance_overflow', amount: '0.01' },
    { operation: 'rollback', reason: 'balance_overflow', reverseTransactionId: bet },
  ]);
});

test('a win that is refused because its round is unknown is in the audit trail', async () => {
  await using service = await startService({ variables: { CREDIT_UNKNOWN_ROUND: 'reject' } });
  const { sql } = service.context.database;
  await addGame(sql);
  await callerOf(service, await addPlayer(sql)).credit();
  expect(await auditDetails(sql)).toMatchObject([{ operation: 'credit', reason: 'round_unknown' }]);
});
