import { randomUUID } from 'node:crypto';
import { openDatabase } from '@platform/service-kit/db';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { createComparer } from '../src/reconciliation/comparing.ts';
import { jsonLines, type Line } from '@platform/wallet-conformance/game-server/statement';
import { addGame, addPlayer } from './factories.ts';
import { startService } from './harness.ts';
import { getJson, playStatement, sendStatement, type Found } from './reconciliations.ts';

/** A service whose statements only the test compares. */
const startIdle = async (variables: Record<string, string> = {}) => {
  const service = await startService({ variables });
  await service.context.comparing[Symbol.asyncDispose]();
  return service;
};

const creditOf = (fields: Partial<Line> = {}) =>
  ({ transactionId: randomUUID(), playerId: 'p', operation: 'credit', amount: '1.00', ...fields }) as Line;

const idOf = ({ body }: { body: Record<string, unknown> }): string => String(body['reconciliationId']);
const find = (url: string, id: string) => getJson<Found>(url, `/v1/reconciliations/${id}`);

test('a slice of the period that takes too long is divided', async () => {
  await using service = await startIdle();
  const { sql } = service.context.database;
  await addGame(sql);
  const lines = await playStatement(service, [await addPlayer(sql)], 3);
  const now = Date.now();
  const period = { from: new Date(now - 600_000).toISOString(), to: new Date(now).toISOString() };
  const sent = await sendStatement(service.url, jsonLines(lines.slice(1)), period);
  // Instead of a time limit.
  await sql`
    create function refuse_long() returns trigger language plpgsql as $$ begin
      if new.entries_done - old.entries_done > interval '20 seconds' then raise 'too long'; end if;
      return new;
    end $$`;
  await sql`create trigger refuse_long before update on reconciliations for each row execute function refuse_long()`;
  const compare = createComparer(sql);
  const failures: string[] = [];
  const step = async () => {
    try {
      return await compare();
    } catch (error) {
      failures.push(String(error));
      return true;
    }
  };
  while (await step());
  expect(new Set(failures)).toEqual(new Set(['PostgresError: SQLSTATE P0001']));
  expect(await find(service.url, idOf(sent))).toMatchObject({ status: 'done', differences: 1 });
});

test('a reconciliation that always fails keeps no other waiting, is given up, and shows in the metrics', async () => {
  await using service = await startIdle();
  const failing = async () =>
    (await (await fetch(`${service.url}/metrics`)).text()).match(/^wallet_failing_reconciliations .+$/m)?.[0];
  const { sql } = service.context.database;
  const stuck = idOf(await sendStatement(service.url, jsonLines([creditOf()])));
  const other = idOf(await sendStatement(service.url, jsonLines([creditOf()])));
  await sql.unsafe(`alter table reconciliation_differences add check (reconciliation_id <> '${stuck}')`);
  const compare = createComparer(sql);
  const statusOf = async (id: string) => (await find(service.url, id)).status;
  await expect(compare()).rejects.toThrow('reconciliation_differences');
  while ((await statusOf(other)) !== 'done') await compare();
  expect(await statusOf(stuck)).toBe('comparing');
  await expect.poll(failing).toBe('wallet_failing_reconciliations 0');
  await sql`update reconciliations set touched_at = now() - interval '61 minutes' where reconciliation_id = ${stuck}`;
  await expect.poll(failing).toBe('wallet_failing_reconciliations 1');
  while ((await sql`select from reconciliations where step = 'removing'`).length > 0) await compare();
  for (let attempt = 2; attempt <= 10; attempt++)
    await expect(compare()).rejects.toThrow('reconciliation_differences');
  while (await compare());
  expect(await find(service.url, stuck)).toMatchObject({ status: 'failed', failure: 'internal' });
  await expect.poll(failing).toBe('wallet_failing_reconciliations 1');
  expect(await sql`select from reconciliation_lines`).toHaveLength(0);
});

test('a statement is refused while five others hold lines', async () => {
  await using service = await startIdle();
  const { sql } = service.context.database;
  for (let open = 0; open < 5; open++)
    expect(await sendStatement(service.url, jsonLines([creditOf()]))).toMatchObject({ status: 201 });
  expect(await sendStatement(service.url, jsonLines([creditOf()]))).toMatchObject({
    status: 409,
    body: { code: 'too_many_reconciliations' },
  });
  const compare = createComparer(sql);
  while (await compare());
  expect(await sendStatement(service.url, jsonLines([creditOf()]))).toMatchObject({ status: 201 });
});

test('a line is found by its id and its player when all players have the same ids', async () => {
  await using service = await startIdle({ TRANSACTION_ID_SCOPE: 'player' });
  const count = 3000;
  const lines = Array.from({ length: count }, (_, n) =>
    creditOf({ playerId: `p-${n}`, operation: 'debit', transactionId: 't-1', reverseTransactionId: 't-1' }),
  );
  const sent = await sendStatement(service.url, jsonLines(lines));
  // One connection, which knows what it has read.
  await using own = openDatabase({
    url: service.context.env.DATABASE_URL,
    name: 'test',
    max: 1,
    statementTimeoutMs: 600_000,
  });
  const compare = createComparer(own.sql);
  const read = async () => {
    await own.sql`select pg_stat_force_next_flush()`;
    const [row] = await own.sql<[{ rows: number }]>`
      select (idx_tup_fetch + seq_tup_read)::int as rows from pg_stat_user_tables
      where relname = 'reconciliation_lines'`;
    return row.rows;
  };
  const before = await read();
  while (await compare());
  expect((await read()) - before).toBeLessThan(count * 20);
  expect(await find(service.url, idOf(sent))).toMatchObject({ status: 'done', lines: count });
});

test('a statement of which a crash of PostgreSQL has taken lines back is refused', async () => {
  await using service = await startIdle();
  const { sql } = service.context.database;
  const some = () => Buffer.from(jsonLines(Array.from({ length: 1100 }, () => creditOf())));
  const stored = async (): Promise<number> =>
    (await sql<{ lines: number }[]>`select lines from reconciliations`)[0]?.lines ?? 0;
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(some()),
    pull: async (stream) => {
      await expect.poll(stored).toBe(1100);
      // A crash forgets the last transactions.
      await sql`truncate reconciliation_lines`;
      await sql`update reconciliations set lines = 0`;
      stream.enqueue(some());
      stream.close();
    },
  });
  const sent = await sendStatement(service.url, body);
  expect(sent).toMatchObject({ status: 409, body: { code: 'interrupted' } });
  const compare = createComparer(sql);
  while (await compare());
  expect(await sql`select step, failure, differences from reconciliations`).toEqual([
    { step: 'ended', failure: 'interrupted', differences: 0 },
  ]);
});

test('empty lines cost no transactions', async () => {
  await using service = await startIdle();
  const sent = await sendStatement(
    service.url,
    `${jsonLines([creditOf()])}${'\n'.repeat(200_000)}${jsonLines([creditOf()])}`,
  );
  const compare = createComparer(service.context.database.sql);
  let transactions = 0;
  // The slices of an hour are some ten.
  while (await compare()) transactions += 1;
  expect(transactions).toBeLessThan(20);
  expect(await find(service.url, idOf(sent))).toMatchObject({ status: 'done', lines: 2, differences: 2 });
});

/** Nodes of a plan that compare each row of one side with all rows of the other one. */
const joinFilters = (node: object): string[] =>
  Object.entries(node).flatMap(([name, value]) =>
    name === 'Join Filter'
      ? [String(value)]
      : typeof value === 'object' && value !== null
        ? joinFilters(value as object)
        : [],
  );

test('every look-up is by a key, also when the tables were analysed while they were empty', async () => {
  await using service = await startIdle();
  const { sql } = service.context.database;
  await sql`analyze`;
  const sent = await sendStatement(service.url, jsonLines([creditOf()]));
  const statements = new Map<string, unknown[]>();
  await using recording = openDatabase({ url: service.databaseUrl, name: 'test', max: 1 });
  const settings: string[] = [];
  const own = postgres(service.databaseUrl, {
    max: 1,
    debug: (_connection, text, values) => {
      if (text.includes('set_config')) settings.push(text);
      if (/reconciliation_(?:lines|differences)/.test(text)) statements.set(text, values);
    },
  });
  onTestFinished(() => own.end());
  const compare = createComparer(own);
  while (await compare());
  expect(await find(service.url, idOf(sent))).toMatchObject({ status: 'done' });
  expect(statements.size).toBeGreaterThan(4);
  for (const [text, values] of statements) {
    const [row] = await recording.sql.begin(async (tx) => {
      await tx.unsafe(settings[0] ?? '');
      return tx.unsafe<[{ 'QUERY PLAN': object }]>(`explain (format json) ${text}`, values as string[]);
    });
    const filters = joinFilters(row?.['QUERY PLAN'] ?? {});
    expect(filters.filter((filter) => /transaction_id|reverses/.test(filter))).toEqual([]);
  }
});
