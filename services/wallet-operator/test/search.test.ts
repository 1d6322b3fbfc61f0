import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { z } from 'zod';
import { listRounds } from '../src/reporting/rounds/queries.ts';
import type { RoundWithEntries } from '../src/reporting/rounds/schema.ts';
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

test('a list of rounds has no sums of a round whose player has more than 100 entries since; the round has them', async () => {
  const caller = callerOf(service, await addPlayer(sql));
  const { playerId } = caller;
  const roundId = randomUUID();
  await caller.debit({ roundId, amount: '1.00' });
  const listed = async () => (await ann.get(`/v1/rounds?roundId=${roundId}`)).body['rounds'];
  const addEntries = (count: number) => sql`
    with added as (
      insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
      select player_id, seq + n, 'credit', gen_random_uuid(), 0, balance, now(), 'game'
      from players, generate_series(1, ${count}::int) n where player_id = ${playerId} returning seq
    ) update players set seq = (select max(seq) from added) where player_id = ${playerId}`;
  await addEntries(99);
  expect(await listed()).toMatchObject([{ roundId, stake: '1.00', result: '-1.00' }]);
  await addEntries(1);
  expect(await listed()).toMatchObject([{ roundId, stake: null, result: null, currency: 'EUR' }]);
  const round = await ann.get(`/v1/players/${playerId}/rounds/${roundId}`);
  expect(round.body).toMatchObject({ stake: '1.00', result: '-1.00' });
});

test('a page of rounds reads no entries of the rounds on the pages before it', async () => {
  const playerId = await addPlayer(sql);
  await sql`
    insert into rounds (player_id, round_id, game_code, opened_at)
    select ${playerId}, 'old-' || n, 'dice', '2020-01-01'::timestamptz + n * interval '1 minute' from generate_series(1, 30) n`;
  const { rows, read } = await sql.begin(async (tx) => {
    const reads = async () => {
      const [row] = await tx<{ count: number }[]>`
        select (coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as count from pg_stat_xact_user_tables
        where relname = 'entries'`;
      return row?.count ?? 0;
    };
    const before = await reads();
    await tx`set local enable_seqscan = off`;
    const page = { number: 21, limit: 1, offset: 20n };
    const found = await listRounds(tx, { olderThan: '2020-02-01T00:00:00Z' }, page);
    return { rows: found, read: (await reads()) - before };
  });
  expect(rows.map(({ roundId }) => roundId)).toEqual(['old-21', 'old-22']);
  expect(read).toBe(2);
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
  // The statements of the service are cancelled after 5 s, and the machine may be slow.
  const patient = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
  onTestFinished(() => patient.end());
  await patient`
    insert into rounds (player_id, round_id, game_code, opened_at, closed_at)
    select 'p' || n % 1000, gen_random_uuid(), 'dice', now(), now() from generate_series(1, 20_000) n`;
  await callerOf(service, await addPlayer(sql)).debit({ roundId, amount: '1.00' });
  await patient`select brin_summarize_new_values('rounds_id')`;
  await patient`analyze rounds`;
  const pages = await patient<[{ pages: number }]>`select (pg_relation_size('rounds') / 8192)::int as pages`;
  const [plan] = await patient<
    [{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }] }]
  >`
    explain (analyze, buffers, format json) select * from players_of_round(${roundId})`;
  const { 'Shared Hit Blocks': hit, 'Shared Read Blocks': read } = plan['QUERY PLAN'][0].Plan;
  expect(hit + read).toBeLessThan(pages[0].pages / 2);
});

test('the entries of a round come in pages', async () => {
  const caller = callerOf(service, await addPlayer(sql));
  const { playerId } = caller;
  const roundId = randomUUID();
  await caller.debit({ roundId, amount: '1.00' });
  await sql`
    insert into entries (player_id, seq, operation, transaction_id, round_id, amount, balance_after, at, id_space)
    select ${playerId}, seq + 1, 'credit', gen_random_uuid(), ${roundId}, 100, 0, now(), 'game'
    from generate_series(2, 301) seq`;
  const read = async (query = '') => {
    const { body } = await ann.get(`/v1/players/${playerId}/rounds/${roundId}${query}`);
    const { entries, page, result } = body as unknown as z.output<typeof RoundWithEntries>;
    return { seqs: entries.map(({ seq }) => seq), page, result };
  };
  const first = await read();
  expect(first).toMatchObject({ page: { number: 1, has_more: true, limit: 200 }, result: '299.00' });
  const second = await read('?page=2');
  expect(second.page.has_more).toBe(false);
  expect([...first.seqs, ...second.seqs]).toEqual(Array.from({ length: 301 }, (_, at) => at + 2));
  expect((await read('?page=301&limit=1')).seqs).toEqual([302]);
});

test('stake and result of a round count all of its entries and no others', async () => {
  const caller = callerOf(service, await addPlayer(sql));
  const [roundId, between] = [`r'${randomUUID()}`, randomUUID()];
  const [first, second] = [randomUUID(), randomUUID()];
  await caller.debit({ roundId: between, amount: '7.00' });
  await caller.debit({ roundId, transactionId: first, amount: '3.00' });
  await caller.debit({ roundId: between, amount: '4.00' });
  await caller.debit({ roundId, transactionId: second, amount: '2.50' });
  await caller.rollback({ roundId, reverseTransactionId: second });
  const [found] = (await ann.get(`/v1/rounds?${new URLSearchParams({ roundId }).toString()}`)).body[
    'rounds'
  ] as unknown[];
  expect(found).toMatchObject({ roundId, currency: 'EUR', stake: '5.50', result: '-3.00' });
  // The entries are read by the primary key, from the one that opened the round.
  const [row] = await sql`select opened_seq::int as seq from rounds where round_id = ${roundId}`;
  expect(row).toEqual({ seq: 3 });
});
