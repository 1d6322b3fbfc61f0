import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createBodyBudget } from './body-budget.ts';

/** The response to a request of a network, from a caller with a key or without one. */
const createResponse = (network?: string, callerKey?: string): ServerResponse => {
  const request = new IncomingMessage(new Socket());
  return Object.assign(new ServerResponse(Object.assign(request, { scope: { network } })), { callerKey });
};

test('bytes count until the response closes, also those that arrive after a refusal', () => {
  const budget = createBodyBudget(10);
  const [one, other] = [createResponse(), createResponse()];
  expect(() => budget.take(one, 11)).toThrow(expect.objectContaining({ code: 'too_busy' }));
  budget.take(one, 6);
  expect(() => budget.take(other, 5)).toThrow(expect.objectContaining({ code: 'too_busy' }));
  one.emit('close');
  budget.take(other, 10);
});

test('a refused body gives back what has arrived of it', () => {
  const budget = createBodyBudget(10);
  const [one, other] = [createResponse(), createResponse()];
  budget.take(one, 6);
  expect(() => budget.take(one, 6)).toThrow('Too many large requests');
  budget.take(other, 10);
  one.emit('close');
  expect(() => budget.take(createResponse(), 1)).toThrow('Too many large requests');
});

const tooMany = expect.objectContaining({ code: 'too_busy' }) as Error;

test('large bodies of one caller leave half of the budget to those of others', () => {
  const budget = createBodyBudget(1_000_000);
  const [first, second] = [createResponse('192.0.2.1', 'token'), createResponse('192.0.2.2', 'token')];
  for (let at = 0; at < 5; at++) budget.take(first, 60_000);
  expect(() => budget.take(second, 210_000)).toThrow(tooMany);
  budget.take(second, 200_000);
  budget.take(createResponse('192.0.2.1', 'other token'), 250_000);
  // Small bodies take from all of it.
  budget.take(createResponse('192.0.2.1', 'token'), 100_000);
  first.emit('close');
  budget.take(createResponse('192.0.2.1', 'token'), 200_000);
});

test('without a credential the network is the caller', () => {
  const budget = createBodyBudget(1_000_000);
  budget.take(createResponse('192.0.2.1'), 400_000);
  expect(() => budget.take(createResponse('192.0.2.1'), 200_000)).toThrow(tooMany);
  budget.take(createResponse('192.0.2.2'), 200_000);
});
