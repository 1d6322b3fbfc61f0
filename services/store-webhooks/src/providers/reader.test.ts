import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { runInRequestScope } from '@platform/service-kit/request-scope';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startStandIn } from '../../test/simulate/stand-in.ts';
import { ProviderBusy } from '../errors.ts';
import { createReaders } from './reader.ts';

const standIn = await startStandIn();
afterAll(() => standIn[Symbol.asyncDispose]());
beforeEach(() => {
  standIn.behaviour = 'normal';
  standIn.asked.length = 0;
});

const provider = { kind: 'square', baseUrl: standIn.url };
const path = ['v2', 'orders', 'o-1'];

test('what a provider knows is read, what it does not know is undefined', async () => {
  const reader = createReaders({ timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.orders.set('o-1', { order: 1 });
  expect(await reader.get(provider, path, {})).toEqual({ order: 1 });
  expect(await reader.get(provider, ['v2', 'orders', 'o-2'], {})).toBeUndefined();
});

test('a redirect is not followed, and not tried again', async () => {
  const reader = createReaders({ timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.behaviour = 'redirect';
  await expect(reader.get(provider, path, {})).rejects.toThrow('answered 302');
  expect(standIn.asked).toHaveLength(1);
});

test.each([
  ['nests too deeply', { a: JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) as unknown }],
  ['has too many values', { a: Array.from({ length: 20_000 }, () => ({})) }],
])('an answer that %s is not parsed, and not asked for again', async (_, answer) => {
  const reader = createReaders({ timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.orders.set('o-1', answer);
  await expect(reader.get(provider, path, {})).rejects.toThrow('is too large');
  expect(standIn.asked).toHaveLength(1);
});

test('after five failures in a row a provider is not asked for a while', async () => {
  const reader = createReaders({ timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.behaviour = 'error';
  for (let at = 0; at < 4; at++) await expect(reader.get(provider, path, {})).rejects.toThrow('The provider');
  expect(standIn.asked).toHaveLength(5);
  await expect(reader.get(provider, path, {})).rejects.toThrow('is not asked again before');
  expect(standIn.asked).toHaveLength(5);
});

test.each([
  ['error', 'answered 500'],
  ['limited', 'answered 429'],
  ['html', 'did not answer with JSON'],
] as const)(
  'when it is not asked (%s), the message names kind, host, last failure and time, and nothing else of its address',
  async (behaviour, last) => {
    const readerOf = createReaders({ timeoutMs: 20_000, addresses: 'any' });
    const reader = readerOf('one');
    const { host } = new URL(standIn.url);
    const secret = { kind: 'square', baseUrl: `http://user:password@${host}/base?key=secret` };
    standIn.behaviour = behaviour;
    const error = () => reader.get(secret, path, {}).then(String, (reason: Error) => reason.message);
    const before = Date.now();
    expect(await error()).toBe(`The provider square (${host}) ${last}.`);
    let message = '';
    await expect.poll(async () => (message = await error())).toContain('not asked again');
    const time = message.slice(-21, -1);
    expect(message).toBe(
      `The provider square (${host}) failed repeatedly (last: ${last}) and is not asked again before ${time}.`,
    );
    expect(Date.parse(time)).toBeGreaterThan(before);
  },
);

test('a pause that others caused names the kind of the provider that is asked now', async () => {
  const readerOf = createReaders({ timeoutMs: 500, addresses: 'any' });
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
  const readerOf = createReaders({ timeoutMs: 20_000, addresses: 'any' });
  const reader = readerOf('one');
  standIn.behaviour = 'error';
  for (let at = 0; at < 5; at++) await reader.get(provider, path, {}).catch(() => undefined);
  await expect(reader.get(provider, path, {})).rejects.toThrow('is not asked again before');
  standIn.behaviour = 'normal';
  standIn.orders.set('o-1', { order: 1 });
  expect(await readerOf('two').get(provider, path, {})).toEqual({ order: 1 });
});

test('a provider that rejects requests is still asked: the next request may be valid', async () => {
  const reader = createReaders({ timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.behaviour = 'forbidden';
  for (let at = 0; at < 10; at++)
    await expect(reader.get(provider, path, {})).rejects.toThrow('answered 403. Check its credentials');
  standIn.behaviour = 'normal';
  standIn.orders.set('o-1', { order: 1 });
  expect(await reader.get(provider, path, {})).toEqual({ order: 1 });
});

test('a store whose requests hang stops itself, and no other store at the same origin', async () => {
  const readerOf = createReaders({ timeoutMs: 500, addresses: 'any' });
  standIn.behaviour = 'hang';
  const ask = (store: string) => readerOf(store).get(provider, path, {});
  await Promise.allSettled(Array.from({ length: 8 }, () => ask('one')));
  await expect(ask('one')).rejects.toThrow('is not asked again before');
  standIn.behaviour = 'normal';
  standIn.orders.set('o-1', { order: 1 });
  expect(await ask('two')).toEqual({ order: 1 });
});

test('a provider that answers none of five stores is asked for one other at a time, until it answers', async () => {
  const readerOf = createReaders({ timeoutMs: 500, addresses: 'any' });
  standIn.behaviour = 'hang';
  const ask = (store: string) => readerOf(store).get(provider, path, {});
  await Promise.allSettled(Array.from({ length: 5 }, (_, at) => ask(`${at}`)));
  const asked = standIn.asked.length;
  await expect(ask('0')).rejects.toThrow('is not asked again before');
  expect(standIn.asked).toHaveLength(asked);
  const trial = ask('5');
  await expect(ask('6')).rejects.toThrow('is not asked again before');
  await expect(trial).rejects.toThrow(/did not answer in time|is not asked again/);
  standIn.behaviour = 'normal';
  standIn.orders.set('o-1', { order: 1 });
  expect(await ask('6')).toEqual({ order: 1 });
  expect(await ask('0')).toEqual({ order: 1 });
});

test('a provider that limits a store (429) is not asked again at once, and for that store not for a while', async () => {
  const reader = createReaders({ timeoutMs: 20_000, addresses: 'any' })('one');
  standIn.behaviour = 'limited';
  for (let at = 0; at < 5; at++) await expect(reader.get(provider, path, {})).rejects.toThrow('answered 429');
  expect(standIn.asked).toHaveLength(5);
  await expect(reader.get(provider, path, {})).rejects.toThrow('is not asked again before');
});

test('a request that finds too many others of its store in progress is rejected with a time to wait', async () => {
  const readerOf = createReaders({ timeoutMs: 20_000, addresses: 'any' });
  const reader = readerOf('one');
  standIn.behaviour = 'hang';
  const requests = Array.from({ length: 40 }, () => reader.get(provider, path, {}));
  const settled = Promise.allSettled(requests);
  for (const request of requests.slice(32)) {
    const error: unknown = await request.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderBusy);
    expect((error as ProviderBusy).waitMs).toBeGreaterThan(0);
  }
  await expect.poll(() => standIn.asked.length).toBe(8);
  standIn.behaviour = 'normal';
  standIn.orders.set('o-1', { order: 1 });
  expect(await readerOf('two').get(provider, path, {})).toEqual({ order: 1 });
  standIn.release();
  expect((await settled).filter(({ status }) => status === 'fulfilled')).toHaveLength(32);
});

test('who sends many requests of a store delays their own: another network is asked for next', async () => {
  const reader = createReaders({ timeoutMs: 20_000, addresses: 'any' })('one');
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
  await expect.poll(() => standIn.asked.length).toBe(8);
  const other = readFrom('other', 'o-2');
  standIn.orders.set('o-2', { order: 2 });
  standIn.behaviour = 'normal';
  standIn.release();
  expect(await other).toEqual({ order: 2 });
  const place = standIn.asked.findIndex((asked) => JSON.stringify(asked).includes('o-2'));
  expect(place).toBeLessThan(12);
  // The newest of the network with the most were refused.
  expect((await many).filter(({ status }) => status === 'rejected')).toHaveLength(9);
});

test.each([
  'http://127.0.0.1:1',
  'http://[::1]:1',
  'http://[::ffff:10.0.0.1]:1',
  'http://169.254.169.254',
  'http://2130706433',
  'http://localhost:1',
])('where only public addresses are allowed, %s is not asked', async (url) => {
  const reader = createReaders({ timeoutMs: 20_000, addresses: 'public' })('one');
  await expect(reader.get({ kind: 'blaze', baseUrl: url }, ['x'], {})).rejects.toThrow(/private address/);
});
