import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startRedis } from '@platform/local/redis';
import { openRedis } from '@platform/service-kit/redis';
import { captureLog, startProxy } from '@platform/service-kit/testing';
import type { TransactionSql } from 'postgres';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { rotateToken } from '../src/stores/rotate-token.ts';
import { hookEventNames, hookEvents } from '../src/webhooks.ts';
import { startService } from './harness.ts';
import { sendOrder, startProcess } from './process.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

const payments = { kind: 'threedsecureio', credentials: { apiKey: 'key' } };
const tokenIn = (url = ''): string => url.split('/').at(-1) ?? '';

type Store = Awaited<ReturnType<typeof service.store>>;
const paymentsTokenOf = ({ webhookUrls }: Store): string => tokenIn(webhookUrls['payment-auth-completed']);

/** The statuses of an empty webhook to each of the ten addresses. */
const statusesOf = async (token: string) => {
  const entries = hookEventNames.map(async (event) => {
    const path = hookEvents[event].service ? `${event}/threedsecureio` : event;
    return [event, (await service.hook(path, token, {})).status] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
};
const allWith = (status: number) => Object.fromEntries(hookEventNames.map((event) => [event, status]));

const statusFrom = async (id: string, event: string, token: string, from: string) =>
  (
    await service.hook(event, token, {}, { 'x-forwarded-for': from }).then(async (answer) => {
      await answer.arrayBuffer();
      return answer;
    })
  ).status;

test('the address for payment results contains a separate token that is not valid for other events', async () => {
  const store = await service.store({ payments });
  const token = paymentsTokenOf(store);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(token).not.toBe(store.webhookToken);
  expect(await statusesOf(token)).toEqual({ ...allWith(404), 'payment-auth-completed': 200 });
});

test('the store token is valid for all ten events, unless the store forbids it for payment results', async () => {
  const store = await service.store({ payments });
  expect(await statusesOf(store.webhookToken)).toEqual(allWith(200));
  const strict = await service.store({ payments: { ...payments, acceptStoreToken: false } });
  expect(await statusesOf(strict.webhookToken)).toEqual({ ...allWith(200), 'payment-auth-completed': 404 });
  expect((await statusesOf(paymentsTokenOf(strict)))['payment-auth-completed']).toBe(200);
});

test('if one payment provider forbids the store token, it is forbidden for all; other changes keep that setting', async () => {
  const store = await service.store({
    payments: [{ kind: 'netcetera' }, { ...payments, acceptStoreToken: false }],
  });
  expect((await statusesOf(store.webhookToken))['payment-auth-completed']).toBe(404);
  const changed = await service.admin('PATCH', `/v1/stores/${store.id}`, {
    payments: { kind: 'threedsecureio', baseUrl: 'https://other.example.test' },
  });
  expect(changed.body).toMatchObject({ payments: [{ acceptStoreToken: false }] });
});

test('each token is rotated independently, and the answer contains the addresses with the new one', async () => {
  const store = await service.store({ payments });
  const old = paymentsTokenOf(store);
  const rotate = (body: object) =>
    service.admin('POST', `/v1/stores/${store.id}/webhook-token/rotate`, { graceSeconds: 0, ...body });
  const rotated = (await rotate({ for: 'payments' })).body as unknown as {
    webhookToken: string;
    webhookUrls: Record<string, string>;
  };
  expect(Object.keys(rotated.webhookUrls)).toEqual(['payment-auth-completed']);
  expect(tokenIn(rotated.webhookUrls['payment-auth-completed'])).toBe(rotated.webhookToken);
  await expect.poll(async () => (await statusesOf(old))['payment-auth-completed']).toBe(404);
  expect((await statusesOf(rotated.webhookToken))['payment-auth-completed']).toBe(200);
  expect((await statusesOf(store.webhookToken))['order_updated']).toBe(200);

  const events = (await rotate({})).body as unknown as { webhookUrls: Record<string, string> };
  expect(Object.keys(events.webhookUrls)).toHaveLength(9);
  await expect.poll(async () => (await statusesOf(store.webhookToken))['order_updated']).toBe(404);
  expect((await statusesOf(rotated.webhookToken))['payment-auth-completed']).toBe(200);
  expect((await rotate({ for: 'orders' })).body).toMatchObject({ code: 'validation_failed' });
});

test('a store keeps its last 20 replaced tokens; another rotation ends the one that expires first', async () => {
  const { id, webhookToken } = await service.store();
  const orderWith = async (token: string) => (await statusesOf(token))['order_updated'];
  const tokens = [webhookToken];
  const rotate = async () => {
    const body = { graceSeconds: 3600 + tokens.length };
    const rotated = await service.admin('POST', `/v1/stores/${id}/webhook-token/rotate`, body);
    tokens.push((rotated.body as unknown as { webhookToken: string }).webhookToken);
  };
  for (let n = 0; n < 20; n++) await rotate();
  expect(await orderWith(webhookToken)).toBe(200);
  await rotate();
  const works = async () => (await Promise.all(tokens.map(orderWith))).filter((status) => status === 200);
  await expect.poll(works).toHaveLength(21);
  expect(await orderWith(webhookToken)).toBe(404);
});

test("allowedAddresses applies to providers, not to the customer's browser that sends a payment result", async () => {
  const store = await service.store({ payments, allowedAddresses: ['192.0.2.0/24'] });
  const { id, webhookToken } = store;
  expect(await statusFrom(id, 'order_updated', webhookToken, '203.0.113.9')).toBe(403);
  expect(
    await statusFrom(id, 'payment-auth-completed/threedsecureio', paymentsTokenOf(store), '203.0.113.9'),
  ).toBe(200);
});

const redis = await startRedis();
afterAll(() => redis.stop());

/**
 * Starts a service that rotates tokens and uses Redis at `redisUrl`, and another process on its database whose connections
 * can be cut.
 */
const startPair = async (variables: Record<string, string> = {}, redisUrl = redis.url) => {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await startService({ work: false, variables: { REDIS_URL: redisUrl } }));
  const [database, cache] = [
    stack.use(await startProxy(service.databaseUrl)),
    stack.use(await startProxy(redis.url)),
  ];
  const settings = { REDIS_URL: cache.url, ...variables };
  const other = stack.use(await startProcess({ databaseUrl: database.url, spool: service.spool }, settings));
  const store = await service.store();
  expect(await sendOrder(other.url, store.webhookToken, 'before')).toBe(200);
  const started = stack.move();
  return {
    database,
    cache,
    other,
    store,
    sql: service.context.database.sql,
    change: (path: string, body: object) =>
      service.admin(path === '' ? 'PATCH' : 'POST', `/v1/stores/${store.id}${path}`, body),
    /** The snapshot that the other process stores for a start without a database. */
    snapshot: async () => {
      const names = await readdir(service.spool, { recursive: true });
      const files = names.filter((name) => name.endsWith('snapshot.json'));
      const texts = files.map((name) => readFile(join(service.spool, name), 'utf8').catch(() => ''));
      return (await Promise.all(texts)).join('');
    },
    /** The metric of the other process: seconds for which it may still accept replaced tokens. */
    acceptsFor: async () => {
      const metrics = await (await fetch(`${other.url}/metrics`)).text();
      return Number(/^webhooks_replaced_tokens_accepted_seconds (.*)$/m.exec(metrics)?.[1]);
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
};

const rotate = '/webhook-token/rotate';

test('a process without Redis learns of a rotation without grace although nobody uses the token, and rejects it when the database fails', async () => {
  await using pair = await startPair({ REDIS_URL: '' });
  await pair.change(rotate, { graceSeconds: 0 });
  await expect.poll(pair.snapshot).toContain('"graceUntil":"');
  await pair.database.cut();
  expect(await sendOrder(pair.other.url, pair.store.webhookToken, 'after')).toBe(404);
});

test('changed settings of a store apply in other processes when the database fails, even without another webhook', async () => {
  await using pair = await startPair({ REDIS_URL: '' });
  await pair.change('', { allowedAddresses: ['203.0.113.0/24'] });
  await expect.poll(pair.snapshot).toContain('203.0.113.0/24');
  await pair.database.cut();
  expect(await sendOrder(pair.other.url, pair.store.webhookToken, 'after')).toBe(403);
});

test('a process without a database connection learns through Redis that a token was rotated', async () => {
  await using pair = await startPair();
  await pair.database.cut();
  expect(await sendOrder(pair.other.url, pair.store.webhookToken, 'during')).toBe(200);
  await pair.change(rotate, { graceSeconds: 0 });
  await expect.poll(() => sendOrder(pair.other.url, pair.store.webhookToken, 'after')).toBe(404);
  await expect.poll(pair.acceptsFor).toBe(0);
});

test('a process without database and Redis reports how long it may accept replaced tokens, and then rejects them', async () => {
  await using pair = await startPair({ TOKEN_MEMORY_MS: '8000' });
  await expect.poll(pair.acceptsFor).toBe(0);
  await pair.cache.cut();
  await pair.database.cut();
  await pair.change(rotate, { graceSeconds: 0 });
  await expect.poll(pair.acceptsFor).toBeGreaterThan(0);
  expect(await pair.acceptsFor()).toBeLessThanOrEqual(8);
  await expect.poll(() => sendOrder(pair.other.url, pair.store.webhookToken, 'after')).toBe(503);
  await expect.poll(pair.acceptsFor).toBe(0);
});

test('a rotation that could not be published on Redis is known in connected processes when it is answered', async () => {
  await using redisProxy = await startProxy(redis.url);
  await using pair = await startPair({}, redisProxy.url);
  await redisProxy.cut();
  await pair.change(rotate, { graceSeconds: 0 });
  await pair.database.cut();
  await pair.cache.cut();
  expect(await sendOrder(pair.other.url, pair.store.webhookToken, 'after')).toBe(404);
});

test('while Redis answers, the database is rarely queried for rotations', async () => {
  await using pair = await startPair({}, '');
  const client = openRedis(redis.url, captureLog().log);
  onTestFinished(() => client?.disconnect());
  await expect.poll(() => client?.status).toBe('ready');
  const readRedis = async () =>
    Number(/cmdstat_xread:calls=(\d+)/.exec((await client?.info('commandstats')) ?? '')?.[1] ?? 0);
  const readDatabase = async () => {
    const [row] = await pair.sql<{ scans: number }[]>`
      select idx_scan::int as scans from pg_stat_user_indexes where indexrelname = 'stores_updated'`;
    return row?.scans ?? 0;
  };
  const [redisBefore, databaseBefore] = [await readRedis(), await readDatabase()];
  await expect.poll(readRedis).toBeGreaterThan(redisBefore + 12);
  expect((await readDatabase()) - databaseBefore).toBeLessThanOrEqual(7);
});

test('a rotation never answers with the token of an attempt that was rolled back', async () => {
  await using service = await startService({ work: false });
  const { context } = service;
  const { id } = await service.store();
  const rotation = { graceSeconds: 60, for: 'events' } as const;
  const request = { owner: 'caller', key: 'key', request: { id } };
  const { sql } = context.database;
  let repeated: Awaited<ReturnType<typeof rotateToken>> | undefined;
  // Simulates a deadlock: before the transaction is retried, a repeated request commits.
  const begin = async (work: (tx: TransactionSql) => Promise<unknown>) => {
    const attempt = sql.begin(async (tx) => {
      await work(tx);
      throw new Error('rolled back');
    });
    await expect(attempt).rejects.toThrow('rolled back');
    repeated = await rotateToken(context, id, rotation, request);
    return sql.begin(work);
  };
  const retrying = Object.assign((...parameters: Parameters<typeof sql>) => sql(...parameters), sql, {
    begin,
  });
  const database = { ...context.database, sql: retrying as unknown as typeof sql };
  await expect(rotateToken({ ...context, database }, id, rotation, request)).rejects.toMatchObject({
    code: 'idempotency_key_used',
  });
  expect(await sendOrder(service.url, repeated?.webhookToken ?? '', 'after')).toBe(200);
});
