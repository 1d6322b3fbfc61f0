import { expect, inject, test } from 'vitest';
import { createHttpApp } from '../src/http/app.ts';
import { NotFound } from '../src/http/problem.ts';
import { anyone, route, type Guard } from '../src/http/route.ts';
import { serve } from '../src/testing/index.ts';
import { startFixture } from './harness.ts';

const api = { title: 'Pages', version: '1.0.0', description: 'Pages.', tags: {}, basePath: '/v1' };

/** Admits every caller that sends a name. */
const named: Guard<string> = {
  security: [],
  schemes: {},
  identify: (req) => String(req.headers['x-name']),
  keyOf: (name) => name,
};

const startPages = async (variables: Record<string, string>) => {
  const stack = new AsyncDisposableStack();
  const { context } = stack.use(await startFixture({ RATE_LIMIT: 'on', ...variables }));
  const common = { method: 'get', tag: 'Pages', summary: 'A page' } as const;
  const responses = { 200: { description: 'Text', mediaType: 'text/plain' } };
  const page = (bytes: number) => () => ({ status: 200 as const, rawBody: 'x'.repeat(bytes) });
  const { listener } = createHttpApp(context, {
    api,
    routes: [
      route({ ...common, auth: anyone, path: '/large', operationId: 'large', responses }, page(900_001)),
      route({ ...common, auth: anyone, path: '/small', operationId: 'small', responses }, page(100_000)),
      route({ ...common, auth: named, path: '/own', operationId: 'own', responses }, page(900_001)),
      route({ ...common, auth: named, path: '/work', operationId: 'work', responses }, ({ countAs }) => {
        countAs(3);
        countAs(2);
        throw new NotFound('result');
      }),
    ],
  });
  const { url } = stack.use(await serve(listener));
  return {
    /** Returns the status and the number of requests that are left in this minute. */
    get: async (path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${url}/v1/${path}`, { headers });
      await answer.arrayBuffer();
      return [answer.status, Number(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1])];
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

test('a response counts as one request for each started 100 kB, against the network of an anonymous caller', async () => {
  await using pages = await startPages({ RATE_LIMIT_PER_MINUTE: '25' });
  expect(await pages.get('small')).toEqual([200, 24]);
  expect(await pages.get('large')).toEqual([200, 14]);
  expect(await pages.get('large')).toEqual([200, 4]);
  // The size is known only after the response, so the last one may exceed the limit.
  expect(await pages.get('large')).toEqual([200, 0]);
  expect(await pages.get('small')).toEqual([429, 0]);
  expect(await pages.get('small', { 'X-Forwarded-For': '198.51.100.7' })).toEqual([200, 24]);
});

test('a request with much work counts as several, also if it fails', async () => {
  await using pages = await startPages({ RATE_LIMIT_PER_MINUTE: '25' });
  const headers = { 'X-Name': 'ann' };
  expect(await pages.get('work', headers)).toEqual([404, 22]);
  expect(await pages.get('work', headers)).toEqual([404, 19]);
});

test.each(['openapi.json', 'ops/status'])(
  '%s counts against the network of its reader, a probe does not',
  async (path) => {
    await using fixture = await startFixture({ RATE_LIMIT: 'on', RATE_LIMIT_PER_MINUTE: '2' });
    const get = async (target: string) => (await fetch(`${fixture.url}/${target}`)).status;
    expect([await get(path), await get(path), await get(path)]).toEqual([200, 200, 429]);
    expect([await get('livez'), await get('readyz'), await get('metrics')]).toEqual([200, 200, 200]);
  },
);

test('large responses count against their caller across all instances', async () => {
  const variables = { RATE_LIMIT_PER_MINUTE: '25', REDIS_URL: inject('redisUrl') ?? '' };
  await using first = await startPages(variables);
  await using second = await startPages(variables);
  const name = (caller: string) => ({ 'X-Name': `${caller}-${process.pid}-${Date.now()}` });
  const [ann, bob] = [name('ann'), name('bob')];
  expect(await first.get('own', ann)).toEqual([200, 15]);
  await expect.poll(() => second.get('own', ann)).toEqual([429, 0]);
  expect(await first.get('own', bob)).toEqual([200, 15]);
});
