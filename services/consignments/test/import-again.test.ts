import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startPruning } from '@platform/service-kit/pruning';
import { outdatedResults } from '../src/import/queries.ts';
import { startService, type Service } from './harness.ts';
import { consignmentInput } from './inputs.ts';
import { listening, type ResultLine } from './stream.ts';

let service: Service;
let connection: Awaited<ReturnType<typeof listening>>;
beforeAll(async () => {
  service = await startService();
  connection = await listening(service);
});
beforeEach(async () => {
  const { sql } = service.context.database;
  await sql`delete from consignments`;
  await sql`delete from import_results`;
});
afterAll(async () => {
  await connection[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const inputs = (count: number, from = 1) =>
  Array.from({ length: count }, (_, n) => consignmentInput({ reference: `line ${from + n}` }));

/** Sends the whole body of an import and resolves with its results. */
const importLines = async (lines: (object | string)[], headers: Record<string, string> = {}) => {
  const run = connection.begin(headers);
  run.send(...lines);
  run.req.end();
  const { statusCode: status, headers: answered } = await run.answered;
  return { status, importId: answered['import-id'] as string, results: await run.rest() };
};

const read = async (importId: string, query = '', authorization = service.writing) => {
  const answer = await fetch(`${service.url}/v1/consignments/imports/${importId}/results${query}`, {
    headers: { Authorization: authorization },
  });
  const text = await answer.text();
  const results = answer.ok
    ? text.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as ResultLine)))
    : [];
  return { status: answer.status, results };
};

const references = async () => {
  const rows = await service.context.database.sql<
    { reference: string }[]
  >`select reference from consignments`;
  return rows.map(({ reference }) => reference).toSorted();
};
const expected = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}`).toSorted();

describe('an import without a temporary folder', () => {
  test('stores its lines and returns all results', async () => {
    vi.stubEnv('TMPDIR', '/dev/null/nowhere');
    try {
      const { status, results } = await importLines([...inputs(1500), 'nonsense']);
      expect([status, results.length, results.at(-1)?.error]).toEqual([200, 1501, 'malformed_json']);
      expect(await references()).toEqual(expected(1500));
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('a repeat with the same Import-Id', () => {
  test('of a refused line rewrites only its slice of results, and none if the result is the same', async () => {
    const { sql } = service.context.database;
    await importLines(
      Array.from({ length: 1000 }, () => 'nonsense'),
      { 'Import-Id': 'a' },
    );
    await sql`update import_results set stored_at = now() - interval '1 hour'`;
    const rewritten = async (line: object | string) => {
      await importLines([line], { 'Import-Id': 'a', 'Import-First-Line': '950' });
      const rows = await sql<{ slice: number }[]>`
        select slice from import_results where stored_at > now() - interval '30 minutes'`;
      return rows.map(({ slice }) => slice);
    };
    expect(await rewritten('nonsense')).toEqual([]);
    expect(await rewritten({ other: 'nonsense' })).toEqual([9]);
    expect((await read('a')).results).toHaveLength(1000);
  });

  test('of the whole body stores nothing twice and returns the same results', async () => {
    const lines = [...inputs(1200), 'nonsense', '', consignmentInput({ status: 9 })];
    const first = await importLines(lines, { 'Import-Id': 'a' });
    const second = await importLines(lines, { 'Import-Id': 'a' });
    expect(second).toEqual(first);
    expect(first.importId).toBe('a');
    expect((await read('a')).results).toEqual(first.results);
    expect(await references()).toEqual(expected(1200));
  });

  test('of a part, from the line in Import-First-Line, stores only new lines', async () => {
    const first = await importLines(inputs(1500), { 'Import-Id': 'a' });
    const part = await importLines(inputs(800, 901), { 'Import-Id': 'a', 'Import-First-Line': '901' });
    expect(part.results.slice(0, 600)).toEqual(first.results.slice(900));
    expect(part.results.map(({ line }) => line)).toEqual(Array.from({ length: 800 }, (_, n) => 901 + n));
    expect(await references()).toEqual(expected(1700));
    expect((await read('a', '?FirstLine=901')).results).toEqual(part.results);
  });

  test('at the same time, once on each of several connections, stores nothing twice', async () => {
    await using other = await startService({ databaseUrl: service.databaseUrl });
    await using place = await listening(other);
    const runs = Array.from({ length: 4 }, (_, n) => {
      const run = (n % 2 === 0 ? connection : place).begin({ 'Import-Id': 'a' });
      // Different pieces, so that batches end at different lines.
      for (const piece of [inputs(7 + n), inputs(1993 - n, 8 + n), inputs(500, 2001)]) run.send(...piece);
      run.req.end();
      return run;
    });
    const results = await Promise.all(runs.map((run) => run.rest()));
    for (const result of results) expect(result).toEqual(results[0]);
    expect(results[0]).toHaveLength(2500);
    expect(await references()).toEqual(expected(2500));
  });

  test('stores nothing twice when a later batch was committed although an earlier one timed out', async () => {
    const { sql } = service.context.database;
    await sql.unsafe(`
      create function wait_and_fail() returns trigger language plpgsql as $$ begin
        perform pg_advisory_lock_shared(37);
        raise exception 'canceled' using errcode = '57014';
      end $$;
      create trigger slow before insert on consignments for each row
        when (new.reference = 'line 1') execute function wait_and_fail()`);
    const lock = await sql.reserve();
    await lock`select pg_advisory_lock(37)`;
    // Batches end at every thousandth line: the first has one line, the second the others.
    const headers = { 'Import-Id': 'a', 'Import-First-Line': '1000' };
    const run = connection.begin(headers);
    run.send(...inputs(500));
    run.req.end();
    await expect.poll(async () => (await references()).length).toBeGreaterThan(0);
    await lock`select pg_advisory_unlock(37)`;
    lock.release();
    expect((await run.answered).statusCode).toBe(503);
    await run.rest();
    await sql.unsafe('drop trigger slow on consignments; drop function wait_and_fail');

    const { results } = await importLines(inputs(500), headers);
    expect(results.every(({ id }) => id !== undefined)).toBe(true);
    expect(await references()).toEqual(expected(500));
  });

  test('after the client has gone away stores nothing twice', async () => {
    const run = connection.begin({ 'Import-Id': 'a' });
    run.answered.catch(() => undefined);
    run.send(...inputs(500));
    await expect.poll(async () => (await references()).length).toBeGreaterThan(0);
    const closed = new Promise((resolve) => run.req.once('close', resolve));
    run.req.destroy();
    await closed;
    await importLines(inputs(500), { 'Import-Id': 'a' });
    expect(await references()).toEqual(expected(500));
  });

  test('stores a refused line when it is sent without the mistake', async () => {
    const lines: (object | string)[] = inputs(3);
    await importLines([lines[0] ?? '', consignmentInput({ status: 9 }), lines[2] ?? ''], {
      'Import-Id': 'a',
    });
    const { results } = await importLines(lines, { 'Import-Id': 'a' });
    expect(results.map(({ line, id }) => [line, typeof id])).toEqual([
      [1, 'string'],
      [2, 'string'],
      [3, 'string'],
    ]);
    expect(await references()).toEqual(expected(3));
  });

  test('removes the result of a refused line that is blank now, from the response and from the results', async () => {
    const [first = '', , third = ''] = inputs(3);
    await importLines([first, 'nonsense', third, 'nonsense'], { 'Import-Id': 'a' });
    const { results } = await importLines([first, ' ', third, ''], { 'Import-Id': 'a' });
    expect(results.map(({ line }) => line)).toEqual([1, 3]);
    expect((await read('a')).results).toEqual(results);
    // A batch of blank lines only.
    await importLines(['nonsense'], { 'Import-Id': 'a', 'Import-First-Line': '4' });
    await importLines(['', ''], { 'Import-Id': 'a', 'Import-First-Line': '4' });
    expect((await read('a')).results).toEqual(results);
  });

  test('is refused when a line that has created a consignment is blank now', async () => {
    const [first = '', second = ''] = inputs(2);
    await importLines([first, second], { 'Import-Id': 'a' });
    for (const lines of [
      [first, ''],
      ['', ''],
    ]) {
      const { status, results } = await importLines(lines, { 'Import-Id': 'a' });
      expect([status, results[0]]).toMatchObject([422, { code: 'import_id_reused' }]);
    }
    expect((await read('a')).results.map(({ line }) => line)).toEqual([1, 2]);
  });

  test('is refused when a line has other content, so that no line is mistaken for another', async () => {
    await importLines(inputs(3), { 'Import-Id': 'a' });
    const { status } = await importLines(inputs(3, 2), { 'Import-Id': 'a' });
    expect(status).toBe(422);
    expect(await references()).toEqual(expected(3));
  });

  test('by another caller is another import', async () => {
    await importLines(inputs(2), { 'Import-Id': 'a' });
    const stranger = `Bearer ${await service.tokens.token({ scope: 'consignments:write', sub: 'stranger' })}`;
    expect((await read('a', '', stranger)).status).toBe(404);
    const { results } = await importLines(inputs(2), { 'Import-Id': 'a', Authorization: stranger });
    expect(await references()).toHaveLength(4);
    expect((await read('a', '', stranger)).results).toEqual(results);
  });
});

describe('results of an import', () => {
  test('can be read by the id that the service generates', async () => {
    const { importId, results } = await importLines([...inputs(2), 'nonsense']);
    expect(await read(importId)).toEqual({ status: 200, results });
    expect((await read('other')).status).toBe(404);
    const reading = `Bearer ${await service.tokens.token({ scope: 'consignments:read' })}`;
    expect((await read(importId, '', reading)).status).toBe(403);
  });

  test('expire after 24 hours, not earlier, and are deleted in the background', async () => {
    const { sql } = service.context.database;
    await importLines(inputs(2), { 'Import-Id': 'a' });
    await sql`update import_results set stored_at = now() - interval '23 hours 59 minutes'`;
    expect((await read('a')).status).toBe(200);
    await sql`update import_results set stored_at = now() - interval '24 hours 1 minute'`;
    expect((await read('a')).status).toBe(404);
    // A new day: the id names another import.
    await importLines(inputs(2, 10), { 'Import-Id': 'a' });
    expect(await references()).toHaveLength(4);
    await sql`update import_results set stored_at = now() - interval '24 hours 1 minute'`;
    await importLines(inputs(2, 20), { 'Import-Id': 'b' });
    await sql`update import_results set stored_at = now() - interval '23 hours 59 minutes' where import_id = 'b'`;
    await using _pruning = startPruning({ sql, log: service.context.log, prunables: [outdatedResults] });
    const kept = async () =>
      (await sql`select import_id from import_results`).map((row) => row['import_id'] as string);
    await expect.poll(kept).toEqual(['b']);
  });

  test.each([
    ['Import-Id', 'two words'],
    ['Import-Id', 'x'.repeat(129)],
    ['Import-First-Line', '0'],
    ['Idempotency-Key', 'my-key'],
  ])('need a valid %s, not "%s"', async (name, value) => {
    const run = connection.begin({ [name]: value });
    run.req.end();
    expect((await run.answered).statusCode).toBe(400);
    expect(Object.keys((await run.next())?.errors ?? {})).toEqual([name]);
  });
});
