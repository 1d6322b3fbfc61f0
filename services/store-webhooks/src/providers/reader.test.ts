import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createOutboundThreads } from '@platform/service-kit/outbound-threads';
import { runInRequestScope } from '@platform/service-kit/request-scope';
import { captureLog } from '@platform/service-kit/testing';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startStandIn } from '../../test/simulate/stand-in.ts';
import { ProviderBusy } from '../errors.ts';
import { createReaders } from './reader.ts';

const standIn = await startStandIn();
afterAll(() => standIn[Symbol.asyncDispose]());
const outbound = createOutboundThreads(captureLog().log);
afterAll(() => outbound[Symbol.asyncDispose]());
beforeEach(() => {
  standIn.behaviour = 'normal';
  standIn.requests.length = 0;
});

const provider = { kind: 'square', baseUrl: standIn.url };
const path = ['v2', 'orders', 'o-1'];

test('a resource of the provider is read, and an unknown one is undefined', async () => {
  const reader = createReaders({ outbound, timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.orders.set('o-1', { order: 1 });
  expect(await reader.get(provider, path, {})).toEqual({ order: 1 });
  expect(await reader.get(provider, ['v2', 'orders', 'o-2'], {})).toBeUndefined();
});

test('a redirect is not followed, and the request is not retried', async () => {
  const reader = createReaders({ outbound, timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.behaviour = 'redirect';
  await expect(reader.get(provider, path, {})).rejects.toThrow('answered 302');
  expect(standIn.requests).toHaveLength(1);
});

test.each([
  ['nests too deeply', { a: JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) as unknown }],
  ['has too many values', { a: Array.from({ length: 20_000 }, () => ({})) }],
])('an answer that %s is neither parsed nor requested again', async (_, answer) => {
  const reader = createReaders({ outbound, timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.orders.set('o-1', answer);
  await expect(reader.get(provider, path, {})).rejects.toThrow('is too large');
  expect(standIn.requests).toHaveLength(1);
});

test('after five failures in a row no requests are sent to a provider for a while', async () => {
  const reader = createReaders({ outbound, timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.behaviour = 'error';
  for (let at = 0; at < 4; at++) await expect(reader.get(provider, path, {})).rejects.toThrow('The provider');
  expect(standIn.requests).toHaveLength(5);
  await expect(reader.get(provider, path, {})).rejects.toThrow('is not asked again before');
  expect(standIn.requests).toHaveLength(5);
});

test.each([
  ['error', 'answered 500'],
  ['limited', 'answered 429'],
  ['html', 'did not answer with JSON'],
] as const)(
  'while requests pause (%s), the message contains kind, host, last failure and time, and nothing else of the address',
  async (behaviour, lastFailure) => {
    const readerOf = createReaders({ outbound, timeoutMs: 20_000, addresses: 'any' });
    const reader = readerOf('one');
    const { host } = new URL(standIn.url);
    const secret = { kind: 'square', baseUrl: `http://user:password@${host}/base?key=secret` };
    standIn.behaviour = behaviour;
    const error = () => reader.get(secret, path, {}).then(String, (reason: Error) => reason.message);
    const before = Date.now();
    expect(await error()).toBe(`The provider square (${host}) ${lastFailure}.`);
    let message = '';
    await expect.poll(async () => (message = await error())).toContain('not asked again');
    const time = message.slice(-21, -1);
    expect(message).toBe(
      `The provider square (${host}) failed repeatedly (last: ${lastFailure}) and is not asked again before ${time}.`,
    );
    expect(Date.parse(time)).toBeGreaterThan(before);
  },
);

test('the message of a pause that other stores caused names the kind of the requested provider', async () => {
  const readerOf = createReaders({ outbound, timeoutMs: 500, addresses: 'any' });
  standIn.behaviour = 'hang';
  const failed = Array.from({ length: 5 }, (_, at) =>
    readerOf(`${at}`).get({ ...provider, kind: 'persona' }, path, {}),
  );
  await Promise.allSettled(failed);
  await expect(readerOf('0').get(provider, path, {})).rejects.toThrow(
    /^The provider square \(\S+\) failed repeatedly \(last: did not answer in time\)/,
  );
});

test('failures of one store do not stop requests of another store at the same origin', async () => {
  const readerOf = createReaders({ outbound, timeoutMs: 20_000, addresses: 'any' });
  const reader = readerOf('one');
  standIn.behaviour = 'error';
  for (let at = 0; at < 5; at++) await reader.get(provider, path, {}).catch(() => undefined);
  await expect(reader.get(provider, path, {})).rejects.toThrow('is not asked again before');
  standIn.behaviour = 'normal';
  standIn.orders.set('o-1', { order: 1 });
  expect(await readerOf('two').get(provider, path, {})).toEqual({ order: 1 });
});

test('rejected requests cause no pause, because the next request may be valid', async () => {
  const reader = createReaders({ outbound, timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.behaviour = 'forbidden';
  for (let at = 0; at < 10; at++)
    await expect(reader.get(provider, path, {})).rejects.toThrow('answered 403. Check its credentials');
  standIn.behaviour = 'normal';
  standIn.orders.set('o-1', { order: 1 });
  expect(await reader.get(provider, path, {})).toEqual({ order: 1 });
});

test('hanging requests of a store pause that store and no other store at the same origin', async () => {
  const readerOf = createReaders({ outbound, timeoutMs: 500, addresses: 'any' });
  standIn.behaviour = 'hang';
  const request = (store: string) => readerOf(store).get(provider, path, {});
  await Promise.allSettled(Array.from({ length: 8 }, () => request('one')));
  await expect(request('one')).rejects.toThrow('is not asked again before');
  standIn.behaviour = 'normal';
  standIn.orders.set('o-1', { order: 1 });
  expect(await request('two')).toEqual({ order: 1 });
});

test('a provider that answers none of five stores gets one trial request at a time until it answers', async () => {
  const readerOf = createReaders({ outbound, timeoutMs: 500, addresses: 'any' });
  standIn.behaviour = 'hang';
  const request = (store: string) => readerOf(store).get(provider, path, {});
  await Promise.allSettled(Array.from({ length: 5 }, (_, at) => request(`${at}`)));
  const requestCount = standIn.requests.length;
  await expect(request('0')).rejects.toThrow('is not asked again before');
  expect(standIn.requests).toHaveLength(requestCount);
  const trial = request('5');
  await expect(request('6')).rejects.toThrow('is not asked again before');
  await expect(trial).rejects.toThrow(/did not answer in time|is not asked again/);
  standIn.behaviour = 'normal';
  standIn.orders.set('o-1', { order: 1 });
  expect(await request('6')).toEqual({ order: 1 });
  expect(await request('0')).toEqual({ order: 1 });
});

test('a request that a provider limits (429) is not retried at once, and its store pauses for a while', async () => {
  const reader = createReaders({ outbound, timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.behaviour = 'limited';
  for (let at = 0; at < 5; at++) await expect(reader.get(provider, path, {})).rejects.toThrow('answered 429');
  expect(standIn.requests).toHaveLength(5);
  await expect(reader.get(provider, path, {})).rejects.toThrow('is not asked again before');
});

test('a request is rejected with a waiting time if its store has too many requests in progress', async () => {
  const readerOf = createReaders({ outbound, timeoutMs: 20_000, addresses: 'any' });
  const reader = readerOf('one');
  standIn.behaviour = 'hang';
  const requests = Array.from({ length: 40 }, () => reader.get(provider, path, {}));
  const settled = Promise.allSettled(requests);
  for (const request of requests.slice(32)) {
    const error: unknown = await request.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderBusy);
    expect((error as ProviderBusy).waitMs).toBeGreaterThan(0);
  }
  await expect.poll(() => standIn.requests.length).toBe(8);
  standIn.behaviour = 'normal';
  standIn.orders.set('o-1', { order: 1 });
  expect(await readerOf('two').get(provider, path, {})).toEqual({ order: 1 });
  standIn.release();
  expect((await settled).filter(({ status }) => status === 'fulfilled')).toHaveLength(32);
});

test('a network with many requests at a store delays only its own, and another network is served next', async () => {
  const reader = createReaders({ outbound, timeoutMs: 20_000, addresses: 'any' })('one');
  /** Reads an order for a request from this network. */
  const readFrom = (network: string, order: string): Promise<unknown> => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const req = { readableEnded: true, headers: {} } as IncomingMessage;
    const concurrency = { enter: () => undefined, leave: () => undefined, suspend: () => undefined };
    const limits = { network, client: () => [network], deadlineMs: 20_000, concurrency } as never;
    runInRequestScope(req, new EventEmitter() as ServerResponse, limits, () =>
      resolve(reader.get(provider, ['v2', 'orders', order], {})),
    );
    return promise;
  };
  standIn.behaviour = 'hang';
  const many = Promise.allSettled(Array.from({ length: 40 }, (_, n) => readFrom('one', `many-${n}`)));
  await expect.poll(() => standIn.requests.length).toBe(8);
  const other = readFrom('other', 'o-2');
  standIn.orders.set('o-2', { order: 2 });
  standIn.behaviour = 'normal';
  standIn.release();
  expect(await other).toEqual({ order: 2 });
  const position = standIn.requests.findIndex((request) => JSON.stringify(request).includes('o-2'));
  expect(position).toBeLessThan(12);
  // The newest requests of the network with the most requests were refused.
  expect((await many).filter(({ status }) => status === 'rejected')).toHaveLength(9);
});

test.each([
  'http://127.0.0.1:1',
  'http://[::1]:1',
  'http://[::ffff:10.0.0.1]:1',
  'http://169.254.169.254',
  'http://2130706433',
  'http://localhost:1',
])('if only public addresses are allowed, no request is sent to %s', async (url) => {
  const reader = createReaders({ outbound, timeoutMs: 20_000, addresses: 'public' })('one');
  await expect(reader.get({ kind: 'blaze', baseUrl: url }, ['x'], {})).rejects.toThrow(/private address/);
});
