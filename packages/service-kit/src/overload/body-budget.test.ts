import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { serve } from '../testing/server.ts';
import { createBodyBudget } from './body-budget.ts';

/** Creates the response to a request from a network, with or without a caller key. */
const createResponse = (network?: string, callerKey?: string): ServerResponse => {
  const request = new IncomingMessage(new Socket());
  return Object.assign(new ServerResponse(Object.assign(request, { scope: { network } })), { callerKey });
};

const tooMany = expect.objectContaining({ code: 'too_busy' }) as Error;

test('bytes count until the response closes', () => {
  const budget = createBodyBudget(30_000);
  const [first, other] = [createResponse(), createResponse()];
  budget.take(first, 15_000);
  expect(() => budget.take(other, 10_000)).toThrow(tooMany);
  first.emit('close');
  budget.take(other, 20_000);
});

test('bytes that arrive after the response has closed do not count', async () => {
  const budget = createBodyBudget(30_000);
  const closed = Promise.withResolvers<ServerResponse>();
  await using server = await serve((_, res) => void res.once('close', () => closed.resolve(res)).end());
  await (await fetch(server.url)).text();
  budget.take(await closed.promise, 25_000);
  expect(() => budget.take(createResponse(), 15_000)).not.toThrow();
});

test('bytes of continuing work count until it ends, although the response has closed', async () => {
  const budget = createBodyBudget(30_000);
  const first = createResponse();
  budget.take(first, 15_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  const working = budget.countWhile(first, () => promise);
  first.emit('close');
  expect(budget.bytes).toBe(15_000);
  resolve();
  await working;
  expect(budget.bytes).toBe(0);
});

test('a refused body releases its received bytes', () => {
  const budget = createBodyBudget(30_000);
  const [first, other] = [createResponse(), createResponse()];
  budget.take(first, 15_000);
  expect(() => budget.take(first, 15_000)).toThrow(tooMany);
  budget.take(other, 20_000);
  first.emit('close');
  expect(() => budget.take(createResponse(), 5000)).toThrow(tooMany);
});

test.each([
  ['network', (at: number) => createResponse(`192.0.2.${at}`)],
  ['caller', (at: number) => createResponse(`192.0.2.${at}`, `caller ${at}`)],
])('the budget has room for another %s, however much each sends', (_, holder) => {
  const budget = createBodyBudget(1_000_000);
  const sendAll = (at: number): number => {
    for (let sent = 0; ; sent += 5000)
      try {
        budget.take(holder(at), 5000);
      } catch {
        return sent;
      }
  };
  const sums = Array.from({ length: 4 }, (__, at) => sendAll(at));
  expect(sums[0]).toBeGreaterThan(650_000);
  expect(Math.min(...sums)).toBeGreaterThan(0);
});

test('the bodies of one caller count together from all its networks, and those of one network from all its callers', () => {
  const budget = createBodyBudget(1_000_000);
  budget.take(createResponse('192.0.2.1', 'token'), 600_000);
  expect(() => budget.take(createResponse('192.0.2.2', 'token'), 100_000)).toThrow(tooMany);
  expect(() => budget.take(createResponse('192.0.2.1', 'other token'), 100_000)).toThrow(tooMany);
  budget.take(createResponse('192.0.2.2', 'other token'), 100_000);
});

test('a body that is not larger than the buffers of a connection does not count', () => {
  const budget = createBodyBudget(10_000);
  for (let at = 0; at < 10; at++) expect(() => budget.take(createResponse(), 4000)).not.toThrow();
});
