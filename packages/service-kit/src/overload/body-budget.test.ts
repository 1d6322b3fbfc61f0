import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createBodyBudget } from './body-budget.ts';

const createResponse = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

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
