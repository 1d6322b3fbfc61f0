import { startRedis } from '@platform/local/redis';
import { createHash, randomUUID } from 'node:crypto';
import supertest from 'supertest';
import { expect, inject, test } from 'vitest';
import { createHttpApp } from '../src/http/app.ts';
import { NotFound, Unauthorized, type CredentialKind } from '../src/http/problem.ts';
import { anyone, route, type Guard } from '../src/http/route.ts';
import { serve } from '../src/testing/index.ts';
import { startFixture } from './harness.ts';

const settings = { RATE_LIMIT: 'on', UNKNOWN_CREDENTIALS_PER_MINUTE: '5' };
const about = { title: 'Keys', version: '1.0.0', description: 'Keys.', tags: {}, basePath: '/v1' };

/** Starts a service whose callers need the key `good`; counts the look-ups. `/v1/token` has another kind of credential. */
const start = async (variables: Record<string, string> = {}) => {
  const stack = new AsyncDisposableStack();
  const fixture = stack.use(await startFixture({ ...settings, ...variables }));
  const lookups: string[] = [];
  const guardOf = (kind: CredentialKind): Guard<string> => ({
    security: [{ key: [] }],
    schemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    identify: async ({ headers: { 'x-key': key } }, limit) => {
      if (typeof key !== 'string') throw new Unauthorized('A key is needed.', 'Key');
      if (key === 'accepted before') return key;
      limit.checkGuesses(kind);
      lookups.push(key);
      await new Promise((resolve) => setImmediate(resolve));
      const hash = createHash('sha256').update(key).digest('hex');
      if (key !== 'good') throw new Unauthorized('A key is needed.', 'Key', 'unauthorized', { kind, hash });
      return key;
    },
    keyOf: (key) => key,
  });
  const shared = {
    method: 'get',
    tag: 'Keys',
    summary: 'Keys',
    responses: { 204: { description: 'Yes' } },
  } as const;
  const keyed = (name: string, kind: CredentialKind) =>
    route({ ...shared, path: `/${name}`, operationId: name, auth: guardOf(kind) }, () => ({ status: 204 }));
  const { listener } = createHttpApp(fixture.context, {
    api: about,
    routes: [
      keyed('mine', 'api_key'),
      keyed('token', 'bearer'),
      route({ ...shared, path: '/open', operationId: 'open', auth: anyone }, () => ({ status: 204 })),
      route({ ...shared, path: '/late', operationId: 'late', auth: anyone }, ({ req }) => {
        fixture.context.guessLimit.check(req, 'refresh_token');
        const unknownCredential = { kind: 'refresh_token', hash: randomUUID() };
        throw Object.assign(new NotFound('token'), { unknownCredential });
      }),
    ],
  });
  const { url } = stack.use(await serve(listener));
  const send = (key: string | undefined, address = '198.51.100.7', path = '/v1/mine') => {
    const pending = supertest(url).get(path).set('X-Forwarded-For', address);
    return key === undefined ? pending : pending.set('X-Key', key);
  };
  return { ...fixture, lookups, send, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

/** Sends `tries` different unknown keys. Returns the number of look-ups. */
const flood = async ({ send, lookups }: Awaited<ReturnType<typeof start>>, address?: string, tries = 20) => {
  const before = lookups.length;
  for (let count = 0; count < tries; count++) await send(randomUUID(), address);
  return lookups.length - before;
};

test('a network with too many unknown credentials gets 429 and Retry-After before any look-up', async () => {
  await using service = await start();
  expect(await flood(service)).toBe(5);
  const answer = await service.send('good');
  expect([answer.status, answer.body.code]).toEqual([429, 'too_many_requests']);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect(service.lookups).toHaveLength(5);
  expect((await service.send('good', '198.51.100.8')).status).toBe(204);
  expect((await service.send(undefined, undefined, '/v1/open')).status).toBe(204);
});

test('unknown credentials of one kind do not block other kinds, nor callers that were accepted before', async () => {
  await using service = await start();
  await flood(service);
  expect((await service.send('good')).status).toBe(429);
  expect((await service.send('accepted before')).status).toBe(204);
  expect((await service.send('good', undefined, '/v1/token')).status).toBe(204);
});

test('unknown credentials count although the request limit of the network answers 429', async () => {
  await using service = await start({ RATE_LIMIT_PER_MINUTE: '1' });
  expect((await service.send(randomUUID())).status).toBe(401);
  for (let count = 0; count < 4; count++) expect((await service.send(randomUUID())).status).toBe(429);
  expect(await flood(service)).toBe(0);
});

/** The number of look-ups of unknown keys when each of `times` requests has another address. */
const lookupsFrom = async (addressAt: (at: number) => string, times: number): Promise<number> => {
  await using service = await start();
  for (let at = 0; at < times; at++) await service.send(randomUUID(), addressAt(at));
  expect((await service.send('good', '2001:db9::1')).status).toBe(204);
  return service.lookups.length - 1;
};

test('an IPv6 client gets no more look-ups with other addresses of its /64, and few more with its /56 and /48', async () => {
  const hex = (at: number) => at.toString(16);
  expect(await lookupsFrom((at) => `2001:db8:1:2::${hex(at)}`, 20)).toBe(5);
  expect(await lookupsFrom((at) => `2001:db8:1:2${hex(16 + at)}::1`, 40)).toBe(20);
  expect(await lookupsFrom((at) => `2001:db8:1:${hex(1 + at)}00::1`, 120)).toBe(80);
});

test('requests without a credential are limited by /64, /56 and /48, too', async () => {
  await using service = await start({ RATE_LIMIT_PER_MINUTE: '2' });
  const open = (address: string) => service.send(undefined, address, '/v1/open');
  const statuses: number[] = [];
  for (let at = 16; at < 28; at++) statuses.push((await open(`2001:db8:1:2${at.toString(16)}::1`)).status);
  expect(statuses).toEqual([...Array<number>(8).fill(204), ...Array<number>(4).fill(429)]);
  const { headers } = await open('2001:db8:1:300::1');
  expect(headers['ratelimit-policy']).toBe('"default";q=2;w=60');
  const refused = await open('2001:db8:1:2ff::1');
  expect(refused.headers['ratelimit-policy']).toBe('"default";q=8;w=60');
});

test('a client that repeats one wrong key does not block its network', async () => {
  await using service = await start();
  for (let count = 0; count < 50; count++) expect((await service.send('wrong')).status).toBe(401);
  for (let count = 0; count < 50; count++) expect((await service.send(undefined)).status).toBe(401);
  expect((await service.send('good')).status).toBe(204);
});

test('an unknown credential that a handler detects counts, too', async () => {
  await using service = await start();
  const statuses = [];
  for (let count = 0; count < 7; count++)
    statuses.push((await service.send(undefined, undefined, '/v1/late')).status);
  expect(statuses).toEqual([404, 404, 404, 404, 404, 429, 429]);
});

test('failures are shared between processes through Redis', async () => {
  const REDIS_URL = inject('redisUrl') ?? '';
  const address = `198.51.100.${Math.ceil(Math.random() * 250)}`;
  await using first = await start({ REDIS_URL, UNKNOWN_CREDENTIALS_PER_MINUTE: '4' });
  await using second = await start({ REDIS_URL, UNKNOWN_CREDENTIALS_PER_MINUTE: '4' });
  await expect
    .poll(() => [first, second].map(({ context }) => context.redis?.status))
    .toEqual(['ready', 'ready']);
  await flood(first, address, 3);
  expect(await flood(second, address, 10)).toBe(1);
  await first.context.redis?.del(`fixture:failures:api_key:${address}`);
});

test('without Redis each process counts for itself', async () => {
  const redis = await startRedis();
  await using service = await start({ REDIS_URL: redis.url });
  await redis.stop();
  expect(await flood(service)).toBe(5);
  expect((await service.send('good')).status).toBe(429);
});

test('responses that depend on a credential are not stored by shared caches, whatever their status', async () => {
  await using service = await start();
  for (const [key, status, cacheControl] of [
    ['good', 204, 'private, no-store'],
    ['wrong', 401, 'no-store'],
  ] as const) {
    const { headers, status: seen } = await service.send(key);
    expect([seen, headers['vary'], headers['cache-control']]).toEqual([status, 'X-Key', cacheControl]);
  }
  const open = await service.send(undefined, undefined, '/v1/open');
  expect([open.headers['vary'], open.headers['cache-control']]).toEqual([undefined, undefined]);
});
