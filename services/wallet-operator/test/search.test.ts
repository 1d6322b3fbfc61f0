import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { person } from './people.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());
const { sql } = service.context.database;
await addGame(sql);
const ann = await person(service);

test('a round is found by its id, open or closed, of every player who has one', async () => {
  const roundId = `round/${randomUUID()} 🎲`;
  const [one, other] = [callerOf(service, await addPlayer(sql)), callerOf(service, await addPlayer(sql))];
  await one.debit({ roundId, amount: '1.00' });
  await other.debit({ roundId, amount: '1.00' });
  await other.credit({ roundId, amount: '2.00', roundClosed: true });
  await one.debit({ roundId: randomUUID(), amount: '1.00' });
  const query = new URLSearchParams({ roundId }).toString();
  const found = await ann.get(`/v1/rounds?${query}`);
  expect(found.body['rounds']).toMatchObject([
    { playerId: one.playerId, roundId, status: 'open' },
    { playerId: other.playerId, roundId, status: 'closed' },
  ]);
  const open = await ann.get(`/v1/rounds?${query}&status=open`);
  expect(open.body['rounds']).toMatchObject([{ playerId: one.playerId }]);
  expect((await ann.get('/v1/rounds?roundId=nothing')).body['rounds']).toEqual([]);
});

test('a transaction is found with its player, its round and its reversal', async () => {
  const caller = callerOf(service, await addPlayer(sql));
  const [roundId, transactionId] = [randomUUID(), `t'${randomUUID()}`];
  await caller.debit({ roundId, transactionId, amount: '3.00' });
  await caller.rollback({ roundId, reverseTransactionId: transactionId });
  const query = new URLSearchParams({ transactionId }).toString();
  const found = await ann.get(`/v1/audit/entries?${query}`);
  const { playerId } = caller;
  expect(found.body).toMatchObject({
    entries: [
      { playerId, roundId, transactionId, operation: 'debit', amount: '-3.00' },
      { playerId, roundId, operation: 'rollback', reverseTransactionId: transactionId, amount: '3.00' },
    ],
    page: { number: 1, has_more: false },
  });
  expect((await ann.get('/v1/audit/entries?transactionId=nothing')).body['entries']).toEqual([]);
  expect((await ann.get('/v1/audit/entries')).status).toBe(400);
  expect((await ann.get('/v1/audit/entries?transactionId=%00')).status).toBe(400);
});

test('entries of a transaction need the scope wallet:read', async () => {
  for (const [scope, status] of [
    ['wallet:read', 200],
    ['stores:admin', 403],
  ] as const) {
    const reader = await person(service, scope);
    expect((await reader.get('/v1/audit/entries?transactionId=t')).status).toBe(status);
  }
});

test('a round is found in a large table without reading all of it', async () => {
  const roundId = randomUUID();
  await sql`
    insert into rounds (player_id, round_id, game_code, opened_at, closed_at)
    select 'p' || n % 1000, gen_random_uuid(), 'dice', now(), now() from generate_series(1, 20_000) n`;
  await callerOf(service, await addPlayer(sql)).debit({ roundId, amount: '1.00' });
  await sql`select brin_summarize_new_values('rounds_id')`;
  await sql`analyze rounds`;
  const pages = await sql<[{ pages: number }]>`select (pg_relation_size('rounds') / 8192)::int as pages`;
  const [plan] = await sql<
    [{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }] }]
  >`
    explain (analyze, buffers, format json) select * from players_of_round(${roundId})`;
  const { 'Shared Hit Blocks': hit, 'Shared Read Blocks': read } = plan['QUERY PLAN'][0].Plan;
  expect(hit + read).toBeLessThan(pages[0].pages / 2);
});
