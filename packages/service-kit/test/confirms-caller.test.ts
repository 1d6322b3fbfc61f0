import supertest from 'supertest';
import { expect, test } from 'vitest';
import { createHttpApp } from '../src/http/app.ts';
import { Unauthorized, Unavailable } from '../src/http/problem.ts';
import { route, type Guard } from '../src/http/route.ts';
import { serve } from '../src/testing/index.ts';
import { holdLock, startFixture } from './harness.ts';

const about = { title: 'Notes', version: '1.0.0', description: 'Notes.', tags: {}, basePath: '/v1' };
const ended = () => new Unauthorized('The session has ended.', 'Bearer');

/** Starts a service with a route that confirms the caller itself. `state` simulates the database. */
const start = async (variables: Record<string, string> = {}) => {
  const stack = new AsyncDisposableStack();
  const fixture = stack.use(await startFixture(variables));
  const state = { ended: false, down: false, hangs: false, lookups: 0 };
  const session: Guard<string> = {
    security: [{ bearer: [] }],
    schemes: { bearer: { type: 'http', scheme: 'bearer' } },
    identify: async (_req, limit) => {
      const confirm = async (): Promise<void> => {
        state.lookups += 1;
        if (state.hangs) await new Promise(() => undefined);
        await Promise.resolve();
        if (state.ended) throw ended();
      };
      if (limit.deferConfirmation) limit.deferConfirmation(confirm);
      else await confirm();
      return 'ann';
    },
    keyOf: (caller) => caller,
  };
  const shared = { method: 'get', tag: 'Notes', summary: 'Notes', auth: session } as const;
  const responses = { 204: { description: 'Yes' } };
  const { listener } = createHttpApp(fixture.context, {
    api: about,
    routes: [
      route({ ...shared, path: '/own', operationId: 'own', confirmsCaller: true, responses }, () => {
        if (state.down) throw new Unavailable('database_unavailable', 'Try again.', undefined, 1);
        if (state.ended) throw ended();
        return { status: 204 };
      }),
      route({ ...shared, path: '/other', operationId: 'other', responses }, () => ({ status: 204 })),
      ...[true, undefined].map((confirmsCaller) => {
        const name = confirmsCaller ? 'fast' : 'memory';
        return route(
          { ...shared, path: `/${name}`, operationId: name, fast: true, confirmsCaller, responses },
          () => ({ status: 204 }),
        );
      }),
    ],
  });
  const { url } = stack.use(await serve(listener));
  const statusOf = async (path: string): Promise<number> => (await supertest(url).get(`/v1${path}`)).status;
  return { fixture, state, statusOf, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

test('only a route that confirms its caller itself skips the look-up', async () => {
  await using service = await start();
  expect([await service.statusOf('/own'), service.state.lookups]).toEqual([204, 0]);
  expect([await service.statusOf('/other'), service.state.lookups]).toEqual([204, 1]);
});

test('such a route answers a revoked caller 401, also for bad input and while the database is down', async () => {
  await using service = await start();
  expect(await service.statusOf('/own?unknown=1')).toBe(400);
  service.state.ended = true;
  expect([await service.statusOf('/own'), await service.statusOf('/other')]).toEqual([401, 401]);
  expect(await service.statusOf('/own?unknown=1')).toBe(401);
  service.state.down = true;
  expect(await service.statusOf('/own')).toBe(401);
});

test('such a route gets a response after a database failure even if the look-up hangs', async () => {
  await using service = await start();
  Object.assign(service.state, { down: true, hangs: true });
  expect([await service.statusOf('/own'), service.state.lookups]).toEqual([503, 1]);
});

test('a caller over its limit gets 429 from such a route without a look-up', async () => {
  await using service = await start({ RATE_LIMIT: 'on', RATE_LIMIT_PER_MINUTE: '2' });
  const statuses = [];
  for (let sent = 0; sent < 4; sent += 1) statuses.push(await service.statusOf('/own'));
  expect([statuses, service.state.lookups]).toEqual([[204, 204, 429, 429], 0]);
});

test('while the queue for connections is full, a fast route that needs one is refused, and another is answered', async () => {
  await using service = await start({ DATABASE_POOL: '1', DATABASE_QUEUE: '1', DATABASE_WAIT_MS: '60000' });
  const { fixture, statusOf } = service;
  await using lock = await holdLock(fixture.database.url);
  const slow = [1, 2].map(() => fetch(`${fixture.url}/v1/slow`));
  await expect.poll(() => fixture.context.database.queue.waiting()).toBe(1);
  expect([await statusOf('/fast'), await statusOf('/memory')]).toEqual([503, 204]);
  await lock.release();
  for (const { status } of await Promise.all(slow)) expect(status).toBe(204);
  expect(await statusOf('/fast')).toBe(204);
});
