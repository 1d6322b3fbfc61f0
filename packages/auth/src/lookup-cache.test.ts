import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Unavailable } from '@platform/service-kit/problem';
import { currentRequest, runInRequestScope } from '@platform/service-kit/request-scope';
import { expect, test } from 'vitest';
import { createLookupCache } from './lookup-cache.ts';
import { createPathTokens, type PathTokenRow } from './path-tokens.ts';

/** Runs `work` in the context of a request from this network. All requests have the same credential. */
const asRequestOf = <T>(network: string, work: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const req = new IncomingMessage(new Socket());
    const concurrency = {
      enter: () => undefined,
      leave: () => undefined,
      suspend: () => undefined,
      isReached: () => false,
    };
    const limits = { network, client: () => [network, 'key'], deadlineMs: 10_000, concurrency };
    runInRequestScope(req, new ServerResponse(req), limits, () => void work().then(resolve, reject));
  });

const inGrace = new Date(0).toISOString();

/** A look-up that the network `flood` is refused, and the networks whose requests ran it. */
const createDatabase = () => {
  const askedBy: string[] = [];
  const find = async (tokenHash: string) => {
    const network = currentRequest()?.network ?? '';
    askedBy.push(network);
    await Promise.resolve();
    if (network === 'flood') throw new Unavailable('too_busy', 'Too many requests are waiting.');
    return { tokenHash, graceUntil: null };
  };
  return { askedBy, find };
};

const createCache = (find: (hash: string) => Promise<PathTokenRow>) =>
  createLookupCache({
    find,
    hashOf: ({ tokenHash }) => tokenHash,
    isValid: () => true,
    maxCredentials: 10,
    answerMs: 1000,
    rememberMs: 1000,
  });

test('a request that shares the look-up of a refused one asks in its own turn, once for each client', async () => {
  const { askedBy, find } = createDatabase();
  const cache = createCache(find);
  const networks = ['flood', 'flood', 'quiet', 'flood', 'quiet'];
  const outcomes = await Promise.allSettled(
    networks.map((network) => asRequestOf(network, () => cache.lookUp('h'))),
  );
  expect(outcomes.map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(askedBy.toSorted()).toEqual(['flood', 'flood', 'quiet']);
});

test('an answer is cached although a look-up that started later was refused', async () => {
  const { askedBy, find } = createDatabase();
  const cache = createCache(find);
  await Promise.allSettled(
    ['flood', 'quiet', 'flood'].map((network) => asRequestOf(network, () => cache.lookUp('h'))),
  );
  expect(askedBy).toEqual(['flood', 'quiet', 'flood']);
  expect(cache.valid.has('h')).toBe(true);
  expect(await cache.lookUp('h')).toMatchObject({ state: 'valid' });
  expect(askedBy).toHaveLength(3);
});

test('an answer is not cached if its credential was forgotten or refreshed during the look-up', async () => {
  for (const change of ['forgetAnswer', 'refresh'] as const) {
    const rows = [null, inGrace].map((graceUntil) => ({ tokenHash: 'h', graceUntil }));
    const answers = rows.map((row) => ({ row, ...Promise.withResolvers<PathTokenRow>() }));
    let asked = 0;
    const cache = createCache(
      () => answers[asked++]?.promise ?? Promise.reject(new Error('too many look-ups')),
    );
    const old = cache.lookUp('h');
    void cache[change]('h');
    const current = cache.lookUp('h');
    for (const { row, resolve } of answers.toReversed()) {
      resolve(row);
      await Promise.all(row === rows[0] ? [old] : [current]);
    }
    expect(cache.valid.get('h')).toEqual(rows[1]);
    expect(await cache.lookUp('h')).toEqual({ state: 'valid', row: rows[1] });
  }
});

test('a webhook token is not undecidable because the look-up of another network was refused', async () => {
  const { find } = createDatabase();
  const tokens = createPathTokens({ find });
  const [flood, quiet] = await Promise.allSettled(
    ['flood', 'quiet'].map((network) => asRequestOf(network, () => tokens.recognise('h'))),
  );
  expect(flood).toMatchObject({ status: 'rejected', reason: { code: 'too_busy' } });
  expect(quiet).toMatchObject({ value: { state: 'known' } });
});
