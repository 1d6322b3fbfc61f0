import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createIdentities, credentialHash } from './reader.ts';

const requestWith = (headers: Record<string, string>) =>
  Object.assign(new IncomingMessage(new Socket()), { headers });

test('requests with one credential share a check, and the result is dropped after a moment', async () => {
  let checks = 0;
  const identities = createIdentities({ identify: () => Promise.resolve(++checks) });
  const identify = (key: string) => {
    const req = requestWith({ 'x-api-key': key.repeat(10_000), authorization: 'Bearer x' });
    return identities.identify(req, credentialHash(req));
  };
  expect(await Promise.all(['a', 'b', 'a'].map(identify))).toEqual([1, 2, 1]);
  expect(identities.size).toBe(2);
  await expect.poll(() => identities.size).toBe(0);
  expect(await identify('a')).toBe(3);
});

test('each value of each credential header is another credential, and each takes little memory', () => {
  const credentials = ['authorization', 'x-api-key', 'cookie'].flatMap((name) =>
    ['short', '"'.repeat(16_000)].map((value) => credentialHash(requestWith({ [name]: value }))),
  );
  expect(new Set(credentials).size).toBe(6);
  expect(Math.max(...credentials.map(({ length }) => length))).toBe(64);
});
