import { once } from 'node:events';
import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import { connect, createServer, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { openDatabase } from '../src/database/database.ts';
import { transientFault } from '../src/database/database-error.ts';
import { createMetrics, addPoolMetrics } from '../src/process/metrics.ts';
import { Unavailable } from '../src/http/problem.ts';
import { createConcurrencyLimit } from '../src/overload/concurrency-limit.ts';
import { createHttpServer } from '../src/http/server.ts';
import {
  currentRequest,
  runInRequestScope,
  runOutsideRequest,
  withDeadline,
} from '../src/overload/request-scope.ts';
import { listen } from '../src/process/service.ts';
import { cloneDatabase } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';
import { holdLock, startFixture, waitForLock } from './harness.ts';

type Fixture = Awaited<ReturnType<typeof startFixture>>;

/** Locks the table of notes: reads and writes wait until the lock is released. */
const lockNotes = async ({ database }: { database: { url: string } }) => {
  const sql = postgres(database.url, { max: 1 });
  const connection = await sql.reserve();
  await connection`begin`;
  await connection`lock table notes`;
  const release = async (): Promise<void> => {
    await connection`rollback`;
    connection.release();
    await sql.end();
  };
  return { release };
};

const blocked = async ({ context }: Fixture): Promise<number> => {
  const [row] = await context.database.probe<{ count: number }[]>`
    select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return row?.count ?? 0;
};

const note = (url: string, id: string, signal?: AbortSignal) =>
  fetch(`${url}/v1/notes`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ id, words: 'x' }),
    ...(signal && { signal }),
  });

const read = (url: string) => fetch(`${url}/v1/notes/none`);

test('requests above the pool and its queue get 503 at once; the replica stays ready and answers the others', async () => {
  const limits = { DATABASE_POOL: '2', DATABASE_QUEUE: '3', DATABASE_WAIT_MS: '60000' };
  await using fixture = await startFixture(limits);
  const { url, context } = fixture;
  addPoolMetrics(context.metrics, context.database);
  const lock = await lockNotes(fixture);
  const accepted = Array.from({ length: 5 }, () => read(url));
  await expect.poll(() => context.database.queue.waiting()).toBe(3);
  const refused = await Promise.all(Array.from({ length: 15 }, () => read(url)));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  expect(await refused[0]?.json()).toMatchObject({ code: 'too_busy' });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('db_pool_waiting 3');
  expect(metrics).toContain('http_requests_refused_total 15');
  await lock.release();
  for (const { status } of await Promise.all(accepted)) expect(status).toBe(404);
});

test('when a client fills the queue, its newest requests are refused in favour of other clients', async () => {
  const limits = { DATABASE_POOL: '1', DATABASE_QUEUE: '4', DATABASE_WAIT_MS: '60000' };
  await using fixture = await startFixture(limits);
  const { url, context } = fixture;
  const lock = await lockNotes(fixture);
  const answered: string[] = [];
  const send = async (caller: string): Promise<number> => {
    const { status } = await fetch(`${url}/v1/notes/none`, {
      headers: { Authorization: `Bearer ${caller}` },
    });
    answered.push(`${caller} ${status}`);
    return status;
  };
  const greedy = Array.from({ length: 5 }, () => send('greedy'));
  await expect.poll(() => context.database.queue.waiting()).toBe(4);
  expect(await send('greedy')).toBe(503);
  const others = [send('ann'), send('bob')];
  await expect.poll(() => answered.length).toBe(3);
  expect(context.database.queue.waiting()).toBe(4);
  await lock.release();
  expect(await Promise.all(others)).toEqual([404, 404]);
  expect((await Promise.all(greedy)).toSorted((a, b) => a - b)).toEqual([404, 404, 404, 503, 503]);
});

test('while the queue is full a request is refused before its body is read, and probes are answered', async () => {
  const limits = { DATABASE_POOL: '1', DATABASE_QUEUE: '1', DATABASE_WAIT_MS: '60000' };
  await using fixture = await startFixture(limits);
  const { url, context, lines } = fixture;
  const lock = await lockNotes(fixture);
  const accepted = [read(url), read(url)];
  await expect.poll(() => context.database.queue.refuses(() => ['127.0.0.1', ''])).toBe(true);
  const invalid = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{' };
  const refused = await fetch(`${url}/v1/notes`, invalid);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.json()).toMatchObject({
    code: 'too_busy',
    requestId: refused.headers.get('x-request-id'),
  });
  for (const path of ['livez', 'readyz', 'metrics?now=1'])
    expect((await fetch(`${url}/${path}`)).status).toBe(200);
  for (const path of ['openapi.json', 'ops/status']) expect((await fetch(`${url}/${path}`)).status).toBe(503);
  expect(lines.join('')).not.toContain('"status":503');
  await lock.release();
  for (const { status } of await Promise.all(accepted)) expect(status).toBe(404);
  expect((await fetch(`${url}/v1/notes`, invalid)).status).toBe(400);
});

test('a started request is not refused, even if many others arrive', async () => {
  const broken: unknown[] = [];
  let [startedRequests, refused] = [0, 0];
  await using served = await serveWork({ max: 1, maxWaiting: 1 }, async ({ sql }) => {
    await sql`select pg_sleep(0.01)`.catch((error: unknown) => {
      refused += 1;
      throw error;
    });
    startedRequests += 1;
    for (let at = 0; at < 3; at++) {
      // Lets another request take the place in the queue.
      await sleep(5);
      await sql`select pg_sleep(0.01)`.catch((error: unknown) => void broken.push(error));
    }
  });
  const client = async (): Promise<void> => {
    while (startedRequests < 10) await fetch(served.url);
  };
  await Promise.all(Array.from({ length: 8 }, client));
  expect(broken).toEqual([]);
  expect(startedRequests).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});

test('a request that waits for a connection longer than DATABASE_WAIT_MS gets 503', async () => {
  await using fixture = await startFixture({ DATABASE_POOL: '1', DATABASE_WAIT_MS: '50' });
  const lock = await lockNotes(fixture);
  const running = read(fixture.url);
  await expect.poll(() => blocked(fixture)).toBe(1);
  const waited = await read(fixture.url);
  expect(waited.status).toBe(503);
  expect(await waited.json()).toMatchObject({ code: 'too_busy' });
  await lock.release();
  expect((await running).status).toBe(404);
});

test('when clients disconnect, their requests leave the queue, statements are cancelled and nothing is stored', async () => {
  await using fixture = await startFixture({ DATABASE_POOL: '1', DATABASE_WAIT_MS: '60000' });
  const lock = await lockNotes(fixture);
  const abort = new AbortController();
  const requests = ['a', 'b', 'c'].map((id) => note(fixture.url, id, abort.signal));
  await expect.poll(() => fixture.context.database.queue.waiting()).toBe(2);
  await expect.poll(() => blocked(fixture)).toBe(1);
  abort.abort();
  await Promise.allSettled(requests);
  await expect.poll(() => blocked(fixture)).toBe(0);
  expect(fixture.context.database.queue.waiting()).toBe(0);
  await lock.release();
  expect(await fixture.context.database.sql`select id from notes`).toEqual([]);
  expect(fixture.lines.join('')).not.toContain('"level":"error"');
});

test('a request past its deadline gets 503 and stores nothing', async () => {
  await using fixture = await startFixture({ REQUEST_DEADLINE_MS: '300' });
  const lock = await lockNotes(fixture);
  const late = await note(fixture.url, 'late');
  expect([late.status, late.headers.get('retry-after')]).toEqual([503, '2']);
  expect(await late.json()).toMatchObject({ code: 'deadline_exceeded' });
  await lock.release();
  expect(await fixture.context.database.sql`select id from notes`).toEqual([]);
});

/** A PostgreSQL cancel request, without TLS: length, code, process, secret. */
const isCancelRequest = (first: Buffer): boolean => first.length === 16 && first.readInt32BE(4) === 80877102;

/** Starts a TCP proxy in front of PostgreSQL that simulates network faults. */
const startProxy = async (databaseUrl: string) => {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const heldCancels: (() => void)[] = [];
  let deliveredCancels = 0;
  const server = createServer(async (client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => void [client, upstream].map((end) => end.destroy()));
    }
    const [first] = (await once(client, 'data')) as [Buffer];
    if (isCancelRequest(first)) {
      await new Promise<void>((release) => heldCancels.push(release));
      upstream.once('close', () => (deliveredCancels += 1));
    }
    upstream.write(first);
    client.pipe(upstream).pipe(client);
  });
  const { port } = await listen(server as never, '127.0.0.1', 0);
  const url = new URL(databaseUrl);
  url.port = String(port);
  return {
    url: url.href,
    /** Each function forwards a delayed cancel request. */
    heldCancels,
    /** Number of cancel requests that PostgreSQL has answered by closing their connections. */
    deliveredCancels: () => deliveredCancels,
    /** Drops all packets without closing a connection, like a firewall that has lost its connection table. */
    lose: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

/** Starts a server whose requests run `work` on a pool. */
const serveWork = async (
  {
    databaseUrl,
    deadlineMs = 240_000,
    ...options
  }: { max: number; maxWaiting?: number; deadlineMs?: number; databaseUrl?: string },
  work: (database: ReturnType<typeof openDatabase>, url: string) => Promise<unknown>,
) => {
  const stack = new AsyncDisposableStack();
  const url = databaseUrl ?? stack.use(await cloneDatabase(inject('postgresUrl'), migrations)).url;
  const database = stack.use(
    openDatabase({ maxWaiting: 1000, statementTimeoutMs: 240_000, ...options, url, name: 'work' }),
  );
  const client = () => ['127.0.0.1', ''];
  const limits = { deadlineMs, concurrency: createConcurrencyLimit(1000), network: '', client };
  const listener: RequestListener = (req, res) =>
    runInRequestScope(req, res, limits, () => {
      work(database, req.url ?? '').then(
        () => res.writeHead(200).end(),
        () => res.writeHead(503).end(),
      );
    });
  const server = createHttpServer(listener);
  const { port } = await listen(server, '127.0.0.1', 0);
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return { database, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

test('shared work waits in the turn of the client that started it, and continues without it', () => {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  const client = () => ['192.0.2.7', 'a credential'];
  const limits = { deadlineMs: 60_000, concurrency: createConcurrencyLimit(1), network: '192.0.2.7', client };
  runInRequestScope(req, res, limits, () => {
    const shared = runOutsideRequest(currentRequest);
    expect(shared?.client()).toEqual(client());
    res.emit('close');
    expect([currentRequest()?.cancelled?.code, shared?.cancelled]).toEqual([
      'client_closed_request',
      undefined,
    ]);
  });
});

test('a transaction past its deadline is rolled back with its savepoints, and its connection is reused', async () => {
  await using served = await serveWork({ max: 1, deadlineMs: 200 }, ({ sql }) =>
    sql.begin(async (tx) => {
      await tx`insert into notes values ('one', 'x')`;
      await tx.savepoint((inner) => inner`select pg_sleep(60)`).catch(() => undefined);
      await tx`insert into notes values ('two', 'x')`;
    }),
  );
  expect((await fetch(served.url)).status).toBe(503);
  expect(await served.database.sql`select id from notes`).toEqual([]);
});

test.each(['statement', 'transaction'])(
  'a cancel request that arrives after its %s has ended does not fail another request',
  async (workType) => {
    await using clone = await cloneDatabase(inject('postgresUrl'), migrations);
    await using proxy = await startProxy(clone.url);
    await using lock = await holdLock(clone.url);
    await using served = await serveWork({ max: 2, databaseUrl: proxy.url }, async ({ sql }) => {
      if (workType === 'statement') await waitForLock(sql);
      else await sql.begin(waitForLock);
    });
    const running = async (): Promise<number> => {
      const [row] = await served.database.probe<{ count: number }[]>`
        select count(*)::int from pg_stat_activity
        where datname = current_database() and wait_event = 'advisory'`;
      return row?.count ?? 0;
    };
    const leaving = new AbortController();
    const abort = fetch(served.url, { signal: leaving.signal }).catch(() => undefined);
    await expect.poll(running).toBe(1);
    leaving.abort();
    await abort;
    await expect.poll(() => proxy.heldCancels.length).toBe(1);
    await lock.release();
    await expect.poll(running).toBe(0);
    await lock.hold();
    const next = fetch(served.url);
    await expect.poll(running).toBe(1);
    for (const release of proxy.heldCancels) release();
    await expect.poll(proxy.deliveredCancels).toBe(1);
    await lock.release();
    expect((await next).status).toBe(200);
    await lock.hold();
    const both = [fetch(served.url), fetch(served.url)];
    await expect.poll(running).toBe(2);
    await lock.release();
    for (const { status } of await Promise.all(both)) expect(status).toBe(200);
  },
);

test('shared work is not cancelled with the request that started it', async () => {
  let shared: Promise<unknown> | undefined;
  await using clone = await cloneDatabase(inject('postgresUrl'), migrations);
  await using lock = await holdLock(clone.url);
  await using served = await serveWork({ max: 2, databaseUrl: clone.url }, ({ sql }) => {
    expect(currentRequest()).toBeDefined();
    return (shared ??= runOutsideRequest(async () => waitForLock(sql)));
  });
  const first = new AbortController();
  const abort = fetch(served.url, { signal: first.signal }).catch(() => undefined);
  await expect.poll(() => shared !== undefined).toBe(true);
  const second = fetch(served.url);
  first.abort();
  await abort;
  await lock.release();
  expect((await second).status).toBe(200);
});

test('work with its own deadline fails with its own error, running or waiting, and holds no connection', async () => {
  await using served = await serveWork({ max: 1 }, async () => undefined);
  const { sql, queue } = served.database;
  const tooSlow = () => new Unavailable('too_slow', 'Too slow.');
  const slow = [1, 2].map(() => withDeadline(200, tooSlow, async () => sql`select pg_sleep(60)`));
  const outcomes = await Promise.allSettled(slow);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'too_slow' } });
  expect(queue.waiting()).toBe(0);
  expect(await withDeadline(60_000, tooSlow, async () => sql`select 1 as one`)).toEqual([{ one: 1 }]);
});

test('a server that refuses the settings of a pool refuses its probe too', async () => {
  const settings = { no_such_setting: 'on' };
  await using database = openDatabase({ url: inject('postgresUrl'), name: 'refused', settings });
  await expect(database.ping()).rejects.toThrow('no_such_setting');
});

test('statements and commits on connections that the network lost fail, and later ones use new connections', async () => {
  await using clone = await cloneDatabase(inject('postgresUrl'), migrations);
  await using proxy = await startProxy(clone.url);
  await using database = openDatabase({ url: proxy.url, name: 'lost', max: 2, statementTimeoutMs: 1000 });
  const { sql } = database;
  await sql`select 1`;
  await database.ping();
  const committed = sql.begin(async (tx) => {
    await tx`select 1`;
    proxy.lose();
  });
  await expect(committed).rejects.toSatisfy((error) => transientFault(error) !== undefined);
  const works = (work: () => PromiseLike<unknown>) => async () =>
    Promise.resolve(work()).then(
      () => true,
      () => false,
    );
  // Each lost connection fails once more when it is used.
  await expect.poll(works(() => sql`select 1`)).toBe(true);
  await expect.poll(works(database.ping)).toBe(true);
});

test('a statement fails when the server closes each connection at once, like a load balancer without a backend', async () => {
  const server = createServer((socket) => socket.destroy());
  const { port } = await listen(server as never, '127.0.0.1', 0);
  await using database = openDatabase({
    url: `postgres://user:password@127.0.0.1:${port}/none`,
    name: 'closed',
  });
  await expect(database.sql`select 1`).rejects.toSatisfy((error) => transientFault(error) !== undefined);
  server.close();
});

test('connections above MAX_CONNECTIONS are closed at once, and existing ones continue', async () => {
  await using fixture = await startFixture({ MAX_CONNECTIONS: '1' });
  const first = connect(fixture.port, '127.0.0.1');
  await once(first, 'connect');
  const second = connect(fixture.port, '127.0.0.1');
  second.on('error', () => undefined).resume();
  await once(second, 'close');
  first.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(String(await once(first, 'data'))).toMatch(/^HTTP\/1\.1 200/);
  first.destroy();
});

test('the queue of a pool is part of its metrics', async () => {
  await using clone = await cloneDatabase(inject('postgresUrl'), migrations);
  await using database = openDatabase({ url: clone.url, name: 'metrics', max: 1, maxWaiting: 0 });
  const metrics = createMetrics();
  addPoolMetrics(metrics, database);
  await using lock = await holdLock(clone.url);
  const running = waitForLock(database.sql).execute();
  await expect.poll(async () => (await database.connections())[0]?.state).toBe('active');
  await expect(runOutsideRequest(() => database.sql`select 1`)).rejects.toMatchObject({
    code: 'too_busy',
  });
  await lock.release();
  await running;
  expect(await metrics.registry.metrics()).toContain('db_pool_refused_total 1');
});
