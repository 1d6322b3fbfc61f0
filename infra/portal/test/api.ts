import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { gateway } from './browser.ts';
import { stack } from './stack.ts';

/** Sends a request with the token of the admin; the answer must be a success. */
export const send = async (method: string, path: string, body?: object): Promise<Response> => {
  const headers = { Authorization: `Bearer ${stack.demo.adminToken}`, 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(gateway + path, { method, headers, ...sent });
  expect(answer.status).toBeLessThan(300);
  return answer;
};

/** Adds a player with 100.00; returns its id. */
export const addPlayer = async (currency: string, more: object = {}): Promise<string> => {
  const playerId = `player-${randomUUID()}`;
  await send('POST', '/v1/players', { playerId, currency, ...more });
  await send('POST', `/v1/players/${playerId}/deposits`, { transactionId: randomUUID(), amount: '100.00' });
  return playerId;
};
