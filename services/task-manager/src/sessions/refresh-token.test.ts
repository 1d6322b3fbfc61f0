import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { makeRefreshToken, readRefreshToken } from './refresh-token.ts';

const session = { userId: v7(), id: v7() };

test('a refresh token says whose it is; its hash is not in it', () => {
  const { token, hash } = makeRefreshToken(session);
  expect(readRefreshToken(token)).toEqual({ session, hash });
  expect(Buffer.from(token, 'base64url').includes(hash)).toBe(false);
  expect(hash).toEqual(createHash('sha256').update(Buffer.from(token, 'base64url').subarray(32)).digest());
});

test('no two are alike', () => {
  const tokens = Array.from({ length: 100 }, () => makeRefreshToken(session).token);
  expect(new Set(tokens).size).toBe(100);
});

test('what can not be one is none', () => {
  const { token } = makeRefreshToken(session);
  const long = Buffer.alloc(64, 0xee).toString('base64url');
  for (const other of [
    '',
    'x',
    token.slice(1),
    `${token}A`,
    `${token}=`,
    ` ${token}`,
    long,
    token.replace(/.$/, '!'),
  ]) {
    expect(readRefreshToken(other)).toBeUndefined();
  }
});
