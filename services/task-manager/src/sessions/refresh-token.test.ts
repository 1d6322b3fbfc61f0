import { createHash, randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { createRefreshTokens } from './refresh-token.ts';

const keyOf = () => ({ d: randomBytes(32).toString('base64url') });
const key = keyOf();
const tokens = createRefreshTokens([key]);
const session = { userId: v7(), id: v7() };
const bytesOf = (token: string) => Buffer.from(token, 'base64url');

test('a refresh token names its session; it does not contain its hash', () => {
  const { token, hash } = tokens.create(session);
  expect(tokens.read(token)).toMatchObject({ session, hash, issued: true });
  expect(bytesOf(token).includes(hash)).toBe(false);
  expect(hash).toEqual(createHash('sha256').update(bytesOf(token).subarray(32)).digest());
});

test('no two tokens of a session are equal', () => {
  const created = Array.from({ length: 100 }, () => tokens.create(session).token);
  expect(new Set(created).size).toBe(100);
});

test('the successor of a token is the same at each call, and another one for each token and key', () => {
  const successorsOf = (token: string, of = tokens) =>
    of
      .read(token)
      ?.successors()
      .map((next) => next.token) ?? [];
  const { token } = tokens.create(session);
  const [next = ''] = successorsOf(token);
  const other = keyOf();
  expect(successorsOf(token)).toEqual([next]);
  const [afterNext] = successorsOf(next);
  const [ofOther, own] = successorsOf(token, createRefreshTokens([other, key]));
  expect(own).toBe(next);
  expect(new Set([token, next, afterNext, ofOther]).size).toBe(4);
  expect(tokens.read(next)).toMatchObject({ session, issued: true });
});

test('a token of any of the keys was issued', () => {
  const { token } = tokens.create(session);
  expect(createRefreshTokens([keyOf(), key]).read(token)?.issued).toBe(true);
});

test('a token with any byte changed, or made under another key, was not issued', () => {
  const { token } = tokens.create(session);
  for (let at = 0; at < bytesOf(token).length; at++) {
    const forged = bytesOf(token);
    forged[at] = (forged[at] ?? 0) ^ 1;
    // A changed version or variant makes an id that is not a UUID.
    expect(tokens.read(forged.toString('base64url'))?.issued ?? false).toBe(false);
  }
  expect(createRefreshTokens([keyOf()]).read(token)?.issued).toBe(false);
});

test('text that does not have the form of a refresh token is not read', () => {
  const { token } = tokens.create(session);
  const noIds = Buffer.alloc(bytesOf(token).length, 0xee).toString('base64url');
  const others = ['', 'x', token.slice(1), `${token}A`, `${token}=`, ` ${token}`, noIds];
  for (const other of [...others, token.replace(/.$/, '!')]) expect(tokens.read(other)).toBeUndefined();
});
