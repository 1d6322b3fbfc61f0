import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Unavailable } from '@platform/service-kit/problem';
import { currentRequest, runInRequestScope } from '@platform/service-kit/request-scope';
import { expect, test } from 'vitest';
import { createLookupCache } from './lookup-cache.ts';
import { createPathTokens } from './path-tokens.ts';

/** Runs `work` for a request of this network, with the credential that all of them share. */
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

/** A look-up that the queue refuses for the network that floods it, and which of them it was asked for. */
const createDatabase = () => {
  const asked: string[] = [];
  const find = async (tokenHash: string) => {
    const network = currentRequest()?.network ?? '';
    asked.push(network);
    await Promise.resolve();
    if (network === 'flood') throw new Unavailable('too_busy', 'Too many requests are waiting.');
    return { tokenHash, graceUntil: null };
  };
  return { asked, find };
};

test('a request that shares the look-up of a refused one asks in its own turn, once for each client', async () => {
  const { asked, find } = createDatabase();
  const cache = createLookupCache({
    find,
    hashOf: ({ tokenHash }) => tokenHash,
    isValid: () => true,
    maxCredentials: 10,
    answerMs: 1000,
    rememberMs: 1000,
  });
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
  expect(asked.toSorted()).toEqual(['flood', 'flood', 'quiet']);
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
