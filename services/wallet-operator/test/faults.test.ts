import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres, type PostgresServer } from '@platform/local/postgres';
import { startRedis } from '@platform/local/redis';
import { migrate } from '@platform/service-kit/migrate';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrations } from '../src/context.ts';
import { addGame, addPlayer } from './factories.ts';
import { call } from './harness.ts';
import { startLoad, type Sent } from './load.ts';
import { inTestSchema, type ServiceProcess } from '@platform/service-kit/testing';
import { startProcess } from './process.ts';
import { expectSoundLedger } from './proof.ts';

/** With fsync, because the tests check what survives a crash. */
let server: PostgresServer;
let databaseUrl: string;
let sql: Sql;
let players: string[];
beforeAll(async () => {
  server = await startPostgres({ durable: true });
  databaseUrl = inTestSchema(server.url);
  await migrate(databaseUrl, migrations);
  sql = postgres(databaseUrl, { max: 2, onnotice: () => undefined });
  await addGame(sql);
  players = [];
  for (let at = 0; at < 6; at++) players.push(await addPlayer(sql));
});
afterAll(async () => {
  await sql.end();
  await server.stop();
});

/** Waits until the service answers OK, as a game server does. */
const untilServing = async (url: string): Promise<void> => {
  for (;;) {
    const answer = await call(url, 'balance', { requestId: 'r', playerId: players[0] }).catch(
      () => undefined,
    );
    if (answer?.status === 'OK') return;
    await sleep(30);
  }
};

const counted = async (sent: readonly Sent[]) => {
  const ids = sent.map(({ fields }) => fields.transactionId);
  const rows = await sql<{ id: string; count: number }[]>`
    select transaction_id as id, count(*)::int as count from entries
    where transaction_id = any(${ids}) and operation <> 'tombstone' group by 1`;
  return new Map(rows.map(({ id, count }) => [id, count]));
};

/**
 * Expects one entry for each callback that was answered OK. Sends callbacks without an answer again, as the game server
 * does, and expects that the new answer agrees with the ledger.
 */
const expectNothingLost = async (url: string, sent: readonly Sent[]): Promise<void> => {
  await untilServing(url);
  const before = await counted(sent);
  for (const { answer, fields } of sent)
    if (answer?.status === 'OK') expect(before.get(fields.transactionId)).toBe(1);
  const open = sent.filter(({ answer }) => answer === undefined || answer.http === 500);
  await Promise.all(
    open.map(async (one) => {
      one.answer = await call(url, one.callback, { requestId: randomUUID(), ...one.fields });
      expect(one.answer.http).toBe(200);
    }),
  );
  const after = await counted(sent);
  for (const { answer, fields } of sent)
    expect(after.get(fields.transactionId) ?? 0, JSON.stringify(answer)).toBe(
      answer?.status === 'OK' ? 1 : 0,
    );
  expect(sent.filter(({ answer }) => answer?.status === 'OK').length).toBeGreaterThan(50);
  await expectSoundLedger({ sql });
};

const untilSent = async (sent: readonly Sent[], count: number): Promise<void> => {
  while (sent.length < count) await sleep(5);
};

test('kill -9 of the service under load', async () => {
  await using service = await startProcess(databaseUrl);
  const load = startLoad(service.url, players);
  await untilSent(load.sent, 150);
  await service.kill();
  await load.stop();
  await service.start();
  await expectNothingLost(service.url, load.sent);
});

test('kill -9 of the backends that serve it, again and again', async () => {
  await using service = await startProcess(databaseUrl);
  const load = startLoad(service.url, players);
  for (let round = 1; round <= 3; round++) {
    await untilSent(load.sent, load.sent.length + 80);
    const backends = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity where application_name like 'wallet-operator:%' order by state = 'active' desc limit 1`;
    if (round < 3) await sql`select pg_terminate_backend(${backends[0]?.pid ?? 0})`;
    // PostgreSQL then ends all others too and recovers, since their shared memory may be torn.
    else process.kill(backends[0]?.pid ?? 0, 'SIGKILL');
  }
  await untilServing(service.url);
  await untilSent(load.sent, load.sent.length + 80);
  await load.stop();
  await expectNothingLost(service.url, load.sent);
});

test('kill -9 of the whole PostgreSQL under load', async () => {
  await using service = await startProcess(databaseUrl);
  const load = startLoad(service.url, players);
  await untilSent(load.sent, 200);
  await server.kill9();
  const unanswered = () => load.sent.filter(({ answer }) => answer?.http === 500).length;
  await expect.poll(unanswered).toBeGreaterThan(0);
  await server.restart();
  await untilServing(service.url);
  await untilSent(load.sent, load.sent.length + 100);
  await load.stop();
  await expectNothingLost(service.url, load.sent);
});

test('kill -9 of Redis under load changes nothing', async () => {
  const redis = await startRedis();
  await using service = await startProcess(databaseUrl, redis.url);
  const load = startLoad(service.url, players);
  await untilSent(load.sent, 100);
  await redis.kill9();
  await untilSent(load.sent, load.sent.length + 100);
  await load.stop();
  await redis.stop();
  expect(load.sent.filter(({ answer }) => answer?.http !== 200)).toEqual([]);
  await expectNothingLost(service.url, load.sent);
});

test('SIGTERM under load: callbacks that were received are answered, and the process exits with 0', async () => {
  await using service = await startProcess(databaseUrl);
  const load = startLoad(service.url, players);
  await untilSent(load.sent, 100);
  const code = await service.stop();
  await load.stop();
  expect(code).toBe(0);
  await service.start();
  await expectNothingLost(service.url, load.sent);
});

const errorsOf = (processes: readonly ServiceProcess[]): string =>
  processes.flatMap(({ lines }) => lines.filter((line) => line.includes('"err"'))).join('\n');

test('two processes serve the same players', async () => {
  await using one = await startProcess(databaseUrl);
  await using other = await startProcess(databaseUrl);
  const loads = [startLoad(one.url, players), startLoad(other.url, players)];
  for (const { sent } of loads) await untilSent(sent, 200);
  const sent = (await Promise.all(loads.map((load) => load.stop()))).flat();
  expect(
    sent.filter(({ answer }) => answer?.http !== 200),
    errorsOf([one, other]),
  ).toEqual([]);
  await expectNothingLost(one.url, sent);
});

test('callbacks beyond MAX_WAITING are answered at once, and succeed when they are sent again', async () => {
  await using service = await startProcess(databaseUrl, '', { MAX_WAITING: '400' });
  const [locked] = players;
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const blocked = sql.begin(async (tx) => {
    await tx`select from players where player_id = ${locked ?? ''} for update`;
    await held;
  });
  const debit = () => ({
    playerId: locked ?? '',
    transactionId: randomUUID(),
    roundId: randomUUID(),
    gameCode: 'dice-alpha',
    amount: '0.01',
  });
  const sent = Array.from({ length: 600 }, (): Sent => ({
    callback: 'debit',
    fields: debit(),
    answer: undefined,
  }));
  const all = Promise.all(
    sent.map(async (one) => {
      one.answer = await call(service.url, 'debit', { requestId: 'r', ...one.fields }).catch(() => undefined);
      if (one.answer?.http === 500) release?.();
    }),
  );
  await all;
  await blocked;
  expect(sent.some(({ answer }) => answer?.http === 500 && answer.status === 'ERROR_UNKNOWN')).toBe(true);
  await expectNothingLost(service.url, sent);
});
