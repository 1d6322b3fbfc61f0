import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { expect, inject } from 'vitest';
import { gateway } from './browser.ts';
import { stack } from './stack.ts';

/** Sends a request with the admin token, and fails the test unless it succeeds. */
export const send = async (method: string, path: string, body?: object): Promise<Response> => {
  const headers = { Authorization: `Bearer ${stack.demo.adminToken}`, 'Content-Type': 'application/json' };
  const bodyOption = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(gateway + path, { method, headers, ...bodyOption });
  expect(response.status).toBeLessThan(300);
  return response;
};

/** Adds a player with a balance of 100.00, and returns its id. */
export const addPlayer = async (currency: string, fields: object = {}): Promise<string> => {
  const playerId = `player-${randomUUID()}`;
  await send('POST', '/v1/players', { playerId, currency, ...fields });
  await send('POST', `/v1/players/${playerId}/deposits`, { transactionId: randomUUID(), amount: '100.00' });
  return playerId;
};

/** Sends a signed callback like a game server. */
export const callback = async (name: string, body: object): Promise<unknown> => {
  const path = `/callback/${name}`;
  const text = JSON.stringify(body);
  const signatures = createRequestSignatures({ secrets: { current: stack.demo.wallet.hmacSecret } });
  const headers = { 'Content-Type': 'application/json', ...signatures.headers(path, text) };
  return (await fetch(gateway + path, { method: 'POST', headers, body: text })).json();
};

const script = join(import.meta.dirname, '../../local/src/token.ts');

/** Creates an access token of the running platform with only these scopes, separated by spaces. */
export const tokenWith = async (scope: string, subject = 'demo-admin'): Promise<string> => {
  const args = [script, '--scope', scope, '--subject', subject, '--local', inject('localFolder')];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim();
};
