import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { startPostgres } from '@platform/local/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';
import { consignmentInput } from './inputs.ts';
import { listening } from './stream.ts';

let service: Service;
let connection: Awaited<ReturnType<typeof listening>>;
beforeAll(async () => {
  service = await startService();
  connection = await listening(service);
});
beforeEach(() => service.context.database.sql`delete from consignments`);
afterAll(async () => {
  await connection[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const stored = async () => Number((await service.read('/consignments')).body.total);

describe('an import that ends early', () => {
  test('keeps the confirmed lines when the client disconnects, and the service keeps working', async () => {
    const run = connection.begin();
    run.send(consignmentInput());
    expect(await run.next()).toMatchObject({ line: 1 });
    run.req.destroy();
    await once(run.req, 'close');
    await expect.poll(() => service.lines.join('')).toContain('client went away');
    expect(await stored()).toBe(1);
    expect(service.lines.join('')).not.toContain('"level":"error"');
  });

  test('names the first unconfirmed line when there are too many lines', async () => {
    await using small = await startService({ variables: { IMPORT_MAX_LINES: '3' } });
    await using place = await listening(small);
    const run = place.begin();
    run.send(consignmentInput(), consignmentInput());
    expect([await run.next(), await run.next()]).toMatchObject([{ line: 1 }, { line: 2 }]);
    run.send(consignmentInput(), consignmentInput(), consignmentInput());
    expect(await run.rest()).toEqual([
      { line: 3, id: expect.any(String) as string },
      {
        line: 4,
        error: 'too_many_lines',
        detail: expect.stringContaining('line 4') as string,
        stopped: true,
      },
    ]);
    expect((await small.read('/consignments')).body.total).toBe(3);
  });

  test('reports that no more data arrived', async () => {
    await using hasty = await startService({ variables: { IMPORT_IDLE_TIMEOUT_MS: '3000' } });
    await using place = await listening(hasty);
    const run = place.begin();
    run.send(consignmentInput());
    expect(await run.next()).toMatchObject({ line: 1 });
    expect(await run.rest()).toMatchObject([{ line: 2, error: 'import_idle', stopped: true }]);
    const silent = place.begin();
    silent.req.flushHeaders();
    expect((await silent.answered).statusCode).toBe(408);
  });

  test('reports that the instance is shutting down', async () => {
    const run = connection.begin();
    run.send(consignmentInput());
    expect(await run.next()).toMatchObject({ line: 1 });
    service.context.health.draining = true;
    expect(await run.rest()).toMatchObject([{ line: 2, error: 'shutting_down', stopped: true }]);
    service.context.health.draining = false;
  });

  test('reports that the database is unavailable, and keeps the confirmed lines', async () => {
    const server = await startPostgres({ durable: true });
    try {
      await using mortal = await startService({ serverUrl: server.url });
      await using place = await listening(mortal);
      const run = place.begin();
      run.send(consignmentInput(), 'nonsense');
      expect([await run.next(), await run.next()]).toMatchObject([{ line: 1 }, { line: 2 }]);
      await server.kill9();
      run.send(consignmentInput(), consignmentInput());
      expect(await run.rest()).toEqual([
        {
          line: 3,
          error: 'database_unavailable',
          detail: expect.stringContaining('line 3 and those after it are not confirmed') as string,
          stopped: true,
        },
      ]);
      const refused = place.begin();
      refused.req.end(`${JSON.stringify(consignmentInput())}\n`);
      expect((await refused.answered).statusCode).toBe(503);
      await server.restart();
      const total = async () => Number((await mortal.read('/consignments')).body.total);
      await expect.poll(total).toBe(1);
    } finally {
      await server.stop();
    }
  });
});

test('the batches of an import take turns with new requests, although the import started before them', async () => {
  await using busy = await startService({ variables: { DATABASE_POOL: '1', DATABASE_WAIT_MS: '30000' } });
  await using place = await listening(busy);
  const run = place.begin();
  run.send(consignmentInput());
  expect(await run.next()).toMatchObject({ line: 1 });
  const { sql } = busy.context.database;
  const free = Promise.withResolvers<void>();
  const holding = sql.begin(async (tx) => {
    await tx`select 1`;
    await free.promise;
  });
  const done: string[] = [];
  const read = busy.get(`/consignments/${randomUUID()}`).then(() => done.push('read'));
  await expect.poll(() => busy.context.database.queue.waiting()).toBe(1);
  run.send(consignmentInput());
  const batch = run.next().then(() => done.push('batch'));
  await expect.poll(() => busy.context.database.queue.waiting()).toBe(2);
  free.resolve();
  await Promise.all([holding, read, batch]);
  expect(done).toEqual(['read', 'batch']);
  run.req.end();
});

test('a caller can run ten imports at the same time; another one returns 503 until one has ended', async () => {
  const begin = (Authorization = service.writing) => {
    const run = connection.begin({ Authorization });
    run.send(consignmentInput());
    return run;
  };
  const running = Array.from({ length: 10 }, () => begin());
  for (const run of running) expect(await run.next()).toMatchObject({ line: 1 });
  const refused = await begin().answered;
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '2']);
  const other = begin(`Bearer ${await service.tokens.token({ scope: 'consignments:write' })}`);
  expect(await other.next()).toMatchObject({ line: 1 });
  for (const run of [...running, other]) run.req.end();
  for (const run of [...running, other]) expect(await run.rest()).toEqual([]);
  const next = begin();
  next.req.end();
  expect(await next.rest()).toHaveLength(1);
});

test('an import of the caller with the most imports ends for a caller who has none, and can be sent again', async () => {
  await using full = await startService({ variables: { IMPORT_IDLE_TIMEOUT_MS: '600000' } });
  await using place = await listening(full);
  const begin = async (sub: string, address: string) => {
    const Authorization = `Bearer ${await full.tokens.token({ sub, scope: 'consignments:write' })}`;
    const run = place.begin({ Authorization, 'X-Forwarded-For': address });
    run.send(consignmentInput());
    expect(await run.next()).toMatchObject({ line: 1 });
    return run;
  };
  const ten = (sub: string, address: string) =>
    Promise.all(Array.from({ length: 10 }, () => begin(sub, address)));
  const most = await ten('a', '192.0.2.1');
  const rest = [];
  for (const sub of ['b', 'c', 'd']) rest.push(...(await ten(sub, `192.0.2.${sub === 'b' ? 1 : 2}`)));
  rest.push(await begin('e', '192.0.2.3'));
  const [ended] = await Promise.race(most.map((run) => run.rest()));
  expect(ended).toMatchObject({ line: 2, error: 'too_many_imports', stopped: true });
  for (const { req } of [...most, ...rest]) req.destroy();
});
