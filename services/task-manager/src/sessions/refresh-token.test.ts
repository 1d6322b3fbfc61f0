import { createHash, randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { createRefreshTokens } from './refresh-token.ts';

const keyOf = () => ({ d: randomBytes(32).toString('base64url') });
const tokens = createRefreshTokens(keyOf());
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
  const first = tokens.read(tokens.create(session).token);
  const second = tokens.read(first?.successor().token ?? '');
  const others = createRefreshTokens(keyOf()).read(first?.successor().token ?? '');
  expect(second).toMatchObject({ session, issued: true, hash: first?.successor().hash });
  const made = [first, first, second, second, others].map((read) => read?.successor().token);
  expect(made[0]).toBe(made[1]);
  expect(made[2]).toBe(made[3]);
  expect(new Set(made).size).toBe(3);
});

test('a token with any byte changed, or made under another key, was not issued', () => {
  const { token } = tokens.create(session);
  for (let at = 0; at < bytesOf(token).length; at++) {
    const forged = bytesOf(token);
    forged[at] = (forged[at] ?? 0) ^ 1;
    // A changed version or variant makes an id that is not a UUID.
    expect(tokens.read(forged.toString('base64url'))?.issued ?? false).toBe(false);
  }
  expect(createRefreshTokens(keyOf()).read(token)?.issued).toBe(false);
});

test('text that does not have the form of a refresh token is not read', () => {
  const { token } = tokens.create(session);
  const noIds = Buffer.alloc(bytesOf(token).length, 0xee).toString('base64url');
  const others = ['', 'x', token.slice(1), `${token}A`, `${token}=`, ` ${token}`, noIds];
  for (const other of [...others, token.replace(/.$/, '!')]) expect(tokens.read(other)).toBeUndefined();
});
