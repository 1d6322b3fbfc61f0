import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordPlans } from '@platform/service-kit/testing';
import type { ISql } from 'postgres';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { expectSoundLedger } from './proof.ts';

test('a batch reads only the rows it names, also when its plan was made on empty tables', async () => {
  await using service = await startService({ variables: { DATABASE_POOL: '1' } });
  const { sql } = service.context.database;
  await addGame(sql);
  const players = await Promise.all(Array.from({ length: 20 }, () => addPlayer(sql)));
  // Statistics of empty tables: the worst time to create a plan that is kept.
  await sql`analyze`;
  const rounds = 40;
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      players.map(async (playerId) => {
        const caller = callerOf(service, playerId);
        const [roundId, transactionId] = [randomUUID(), randomUUID()];
        expect((await caller.debit({ roundId, transactionId, amount: '1.00' })).status).toBe('OK');
        const end = { roundId, amount: '1.00', roundClosed: true, reverseTransactionId: transactionId };
        expect((await (round % 2 ? caller.credit(end) : caller.rollback(end))).status).toBe('OK');
      }),
    );
  }
  await sql`select pg_stat_force_next_flush()`;
  await sleep(50);
  const read = await sql<{ table: string; rows: number }[]>`
    select relname as table, (idx_tup_fetch + seq_tup_read)::int as rows from pg_stat_user_tables
    where relname in ('rounds', 'entries')`;
  const callbacks = rounds * players.length * 2;
  expect(read).toHaveLength(2);
  // A scan for each item would be hundreds of times this.
  for (const { rows, table } of read) expect(rows, table).toBeLessThan(callbacks * 4);
  await expectSoundLedger(service);
});

test('every list is read in the order of an index, without a sequential scan', async () => {
  await using first = await startService();
  const { sql } = first.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  await using plans = recordPlans(first.databaseUrl);
  const searches = {
    ...first.context.searches,
    run: <T>(read: (sql: ISql) => Promise<T>) => read(plans.sql),
  };
  const overrides = { database: plans.database, searches };
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  const agent = await service.agent('wallet:read wallet:admin wallet:audit');
  for (const path of [
    '/v1/players',
    '/v1/players?q=a&currency=EUR',
    '/v1/players?status=disabled',
    '/v1/players?currency=EUR',
    '/v1/players?excluded=true',
    '/v1/players?excluded=false',
    '/v1/games',
    '/v1/rounds',
    '/v1/rounds?roundId=a',
    `/v1/players/${playerId}/entries`,
    `/v1/players/${playerId}/limits/history`,
    `/v1/players/${playerId}/sessions`,
    '/v1/launches',
    '/v1/launches?playerId=a',
    '/v1/launches?gameCode=a',
    '/v1/launches?outcome=game_server_unavailable',
    '/v1/launches?outcome=game_server_unavailable&gameCode=a',
    '/v1/audit/events',
    '/v1/audit/events?playerId=a',
    '/v1/audit/events?kind=callback',
    '/v1/audit/events?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z',
    '/v1/audit/entries?transactionId=a',
    '/v1/refusals',
    '/v1/refusals?playerId=a',
    '/v1/refusals?roundId=a',
    '/v1/refusals?transactionId=a',
    '/v1/refusals?cause=a',
    '/v1/refusals?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z',
    '/v1/audit/checkpoints',
    '/v1/reconciliations',
  ])
    expect([path, await plans.faultsOf(() => agent.get(path).expect(200))]).toEqual([path, []]);
});

test('late pages of lists, and rounds of players with many entries, are read like searches, so that they leave the connections of other requests alone', async () => {
  await using first = await startService();
  const { sql } = first.context.database;
  const playerId = await addPlayer(sql);
  let searches = 0;
  const run = <T>(read: (sql: ISql) => Promise<T>): Promise<T> => {
    searches += 1;
    return first.context.searches.run(read);
  };
  const overrides = { searches: { ...first.context.searches, run } };
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  const agent = await service.agent('wallet:read wallet:admin wallet:audit');
  const searchesOf = async (path: string): Promise<number> => {
    const before = searches;
    await agent.get(path).expect(200);
    return searches - before;
  };
  for (const path of ['/v1/players', '/v1/rounds', '/v1/launches', '/v1/audit/events', '/v1/refusals'])
    expect([
      path,
      await searchesOf(`${path}?limit=200&page=51`),
      await searchesOf(`${path}?limit=200&page=52`),
    ]).toEqual([path, 0, 1]);
  await sql`insert into rounds (player_id, round_id, game_code, opened_at) values (${playerId}, 'r', 'dice-alpha', now())`;
  const readingOfRound = () => searchesOf(`/v1/players/${playerId}/rounds/r`);
  expect(await readingOfRound()).toBe(0);
  await sql`update players set seq = 10001 where player_id = ${playerId}`;
  expect(await readingOfRound()).toBe(1);
});
