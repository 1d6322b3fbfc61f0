import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { createHttpApp } from '../src/http/app.ts';
import { anyone, route } from '../src/http/route.ts';
import { waitUncounted } from '../src/overload/request-scope.ts';
import { serve } from '../src/testing/index.ts';
import { startFixture } from './harness.ts';

const max = 4;
const about = { title: 'Busy', version: '1.0.0', description: 'Busy.', tags: {}, basePath: '/v1' };
const shared = { tag: 'Busy', summary: 'Busy', auth: anyone, responses: { 200: { description: 'Done' } } };

/** Starts a service whose requests to `held`, `locked` and `twice` wait for `release`. */
const startBusy = async (limit = max, variables: Record<string, string> = {}) => {
  const stack = new AsyncDisposableStack();
  const fixture = stack.use(await startFixture({ MAX_IN_PROGRESS: String(limit), ...variables }));
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let [waiting, received, closed] = [0, 0, 0];
  const hold = async () => {
    waiting += 1;
    await released;
    return { status: 200 as const };
  };
  const { listener } = createHttpApp(fixture.context, {
    api: about,
    routes: [
      route({ ...shared, fast: true, method: 'get', path: '/held', operationId: 'held' }, hold),
      route({ ...shared, fast: true, method: 'post', path: '/held', operationId: 'heldPost' }, hold),
      route({ ...shared, method: 'get', path: '/locked', operationId: 'locked' }, () => waitUncounted(hold)),
      route({ ...shared, method: 'get', path: '/twice', operationId: 'twice' }, async () => {
        const [answer] = await Promise.all([waitUncounted(hold), waitUncounted(hold)]);
        return answer;
      }),
      route({ ...shared, method: 'get', path: '/sleep', operationId: 'sleep' }, async () => {
        await fixture.context.database.sql`select pg_sleep(60)`;
        return { status: 200 };
      }),
      route({ ...shared, fast: true, method: 'get', path: '/quick', operationId: 'quick' }, () => ({
        status: 200,
      })),
      route({ ...shared, fast: true, method: 'get', path: '/large', operationId: 'large' }, () => ({
        status: 200,
        rawBody: 'x'.repeat(20_000_000),
      })),
      route(
        { ...shared, method: 'post', path: '/body', operationId: 'body', body: { schema: z.unknown() } },
        () => ({ status: 200 }),
      ),
    ],
  });
  const { url, port } = stack.use(
    await serve((req, res) => {
      received += 1;
      res.on('close', () => {
        closed += 1;
      });
      listener(req, res);
    }),
  );
  stack.defer(release);
  const get = (path: string) => fetch(`${url}/v1/${path}`);
  return {
    ...fixture,
    url,
    port,
    release,
    waiting: () => waiting,
    received: () => received,
    closed: () => closed,
    get,
    /** Sends requests for longer than others must be in progress to cause refusals, and returns the different statuses. */
    statuses: async () => {
      const seen = new Set<number>();
      const until = performance.now() + 300;
      for (let sent = 0; sent < 20 || performance.now() < until; sent++)
        seen.add((await get('quick')).status);
      return [...seen];
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

type Busy = Awaited<ReturnType<typeof startBusy>>;

/**
 * Waits until a request is refused, then stops the clock. The limit applies for a second after the last answer, and a busy
 * machine may need that long for one request.
 */
const untilRefused = async (get: () => Promise<Response>): Promise<void> => {
  const expectRefusal = () => expect.poll(async () => (await get()).status).toBe(503);
  await expectRefusal();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
  await expectRefusal();
};

/** Keeps more than `max` requests in progress until others are refused. */
const overload = async ({ get, waiting }: Busy) => {
  const held = Array.from({ length: max + 1 }, () => get('held').catch(() => undefined));
  // None of this burst is refused.
  await expect.poll(waiting).toBe(max + 1);
  await untilRefused(() => get('quick'));
  return { held };
};

test.each([
  ['one network', () => '192.0.2.1'],
  ['one customer with many networks of IPv6', (at: number) => `2001:db8:1:${at}::1`],
])('while %s fills MAX_IN_PROGRESS, another one is answered', async (_name, addressOf) => {
  await using busy = await startBusy(8);
  const getFrom = (address: string, path: string) =>
    fetch(`${busy.url}/v1/${path}`, { headers: { 'X-Forwarded-For': address } });
  const held = Array.from({ length: 24 }, (_, at) => getFrom(addressOf(at), 'held').catch(() => undefined));
  await expect.poll(busy.waiting).toBe(24);
  await untilRefused(() => getFrom(addressOf(99), 'quick'));
  expect((await getFrom('198.51.100.7', 'quick')).status).toBe(200);
  expect((await getFrom(addressOf(100), 'quick')).status).toBe(503);
  busy.release();
  await Promise.all(held);
});

test('while more than MAX_IN_PROGRESS requests stay in progress, others get 503', async () => {
  await using busy = await startBusy();
  const { held } = await overload(busy);
  for (const path of ['quick', 'unknown']) {
    const refused = await busy.get(path);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect(refused.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await refused.json()).toMatchObject({
      status: 503,
      code: 'too_busy',
      requestId: refused.headers.get('x-request-id'),
    });
  }
  for (const path of ['livez', 'readyz', 'metrics?now=1'])
    expect((await fetch(`${busy.url}/${path}`)).status).toBe(200);
  for (const path of ['openapi.json', 'ops/status'])
    expect((await fetch(`${busy.url}/${path}`)).status).toBe(503);
  busy.release();
  for (const answer of await Promise.all(held)) expect(answer?.status).toBe(200);
  expect((await busy.get('quick')).status).toBe(200);
});

test('probes that are answered while all requests wait cause no refusals', async () => {
  await using busy = await startBusy();
  const held = Array.from({ length: max }, () => busy.get('held'));
  await expect.poll(busy.waiting).toBe(max);
  // Longer than requests must be in progress to cause refusals.
  const until = performance.now() + 200;
  while (performance.now() < until) expect((await fetch(`${busy.url}/livez`)).status).toBe(200);
  expect((await busy.get('quick')).status).toBe(200);
  busy.release();
  await Promise.all(held);
});

test('early refusals are not logged, but count in the metrics and in the summary', async () => {
  await using busy = await startBusy();
  await overload(busy);
  const { registry, history } = busy.context.metrics;
  expect(await registry.metrics()).toMatch(/^http_requests_refused_total [1-9]/m);
  await expect.poll(() => history.points().some(({ errorsPerSecond }) => errorsPerSecond > 0)).toBe(true);
  expect(busy.lines.join('')).not.toContain('"status":503');
});

const post = async (url: string, agent: Agent, bytes: number): Promise<[number | undefined, boolean]> => {
  const sending = request(`${url}/v1/body`, { method: 'POST', agent, headers: { 'Content-Length': bytes } });
  sending.end('x'.repeat(bytes));
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  await json(answer);
  return [answer.statusCode, sending.reusedSocket];
};

test('a refused POST keeps its connection, unless its body is longer than 8 MiB', async () => {
  await using busy = await startBusy();
  await overload(busy);
  using agent = Object.assign(new Agent({ keepAlive: true, maxSockets: 1 }), {
    [Symbol.dispose]: () => agent.destroy(),
  });
  expect(await post(busy.url, agent, 65_536)).toEqual([503, false]);
  expect(await post(busy.url, agent, 8 * 2 ** 20)).toEqual([503, true]);
  expect(await post(busy.url, agent, 8 * 2 ** 20 + 1)).toEqual([503, true]);
  expect(await post(busy.url, agent, 1)).toEqual([503, false]);
});

const slowBody = {
  'Content-Type': 'application/json',
  'Content-Length': '9',
  // The answer to this header shows that the service waits for the body.
  Expect: '100-continue',
};

test.each([
  {
    behaviour: 'send their bodies slowly',
    method: 'POST',
    path: 'body',
    headers: slowBody,
    event: 'continue',
    held: 0,
  },
  {
    behaviour: 'read their answers slowly',
    method: 'GET',
    path: 'large',
    headers: {},
    event: 'response',
    held: 0,
  },
  {
    behaviour: 'wait for a lock',
    method: 'GET',
    path: 'locked',
    headers: {},
    event: undefined,
    held: 2 * max,
  },
])('clients that $behaviour do not block others', async ({ method, path, headers, event, held }) => {
  await using busy = await startBusy();
  const slow = Array.from({ length: 2 * max }, () =>
    request(`${busy.url}/v1/${path}`, { method, headers }).on('error', () => undefined),
  );
  for (const client of slow) {
    if (method === 'GET') client.end();
    else client.flushHeaders();
  }
  if (event !== undefined) await Promise.all(slow.map((client) => once(client, event)));
  await expect.poll(busy.waiting).toBe(held);
  expect(await busy.statuses()).toEqual([200]);
  for (const client of slow) client.destroy();
});

test('POSTs with an unread empty body count too', async () => {
  await using busy = await startBusy();
  const options = { method: 'POST', headers: { 'Content-Length': '0' } };
  for (let sent = 0; sent <= max; sent++)
    request(`${busy.url}/v1/held`, options)
      .on('error', () => undefined)
      .end();
  await expect.poll(busy.waiting).toBe(max + 1);
  await untilRefused(() => busy.get('quick'));
});

/** Starts a request that waits, and closes its connection. */
const abort = async (busy: Busy, path: string): Promise<void> => {
  const sending = request(`${busy.url}/v1/${path}`).on('error', () => undefined);
  sending.end();
  await expect.poll(busy.waiting).toBe(1);
  sending.destroy();
  await expect.poll(busy.closed).toBe(1);
};

const endedRequests: { name: string; deadlineMs?: number; run: (busy: Busy) => Promise<unknown> }[] = [
  { name: 'whose client disconnected', run: (busy) => abort(busy, 'held') },
  {
    name: 'whose client disconnected while it waited for a lock',
    run: async (busy) => {
      await abort(busy, 'locked');
      busy.release();
    },
  },
  {
    name: 'that waited for two locks at once',
    run: async (busy) => {
      const answer = busy.get('twice');
      await expect.poll(busy.waiting).toBe(2);
      busy.release();
      expect((await answer).status).toBe(200);
    },
  },
  {
    name: 'whose deadline passed',
    deadlineMs: 1000,
    run: async ({ get }) => expect((await get('sleep')).status).toBe(503),
  },
  {
    name: 'with OPTIONS behind another one on a connection that closed',
    run: async (busy) => {
      const socket = connect(busy.port, '127.0.0.1').on('error', () => undefined);
      socket.write('GET /v1/held HTTP/1.1\r\nHost: x\r\n\r\nOPTIONS /v1/quick HTTP/1.1\r\nHost: x\r\n\r\n');
      await expect.poll(busy.received).toBe(2);
      socket.destroy();
      await expect.poll(busy.closed).toBeGreaterThan(0);
    },
  },
  {
    name: 'whose body was refused',
    run: async ({ url }) => {
      const send = async (body: string, type: string) => {
        const headers = { 'Content-Type': type };
        return (await fetch(`${url}/v1/body`, { method: 'POST', headers, body })).status;
      };
      expect(await send('{', 'application/json')).toBe(400);
      expect(await send('{}', 'text/plain')).toBe(415);
      expect(await send('x'.repeat(200_000), 'application/json')).toBe(413);
    },
  },
];

test.each(endedRequests)('a request $name is no longer in progress', async ({ run, deadlineMs = 60_000 }) => {
  // A single request that still counts would cause all others to be refused.
  await using busy = await startBusy(1, { REQUEST_DEADLINE_MS: String(deadlineMs) });
  await run(busy);
  await expect.poll(busy.statuses).toEqual([200]);
});
