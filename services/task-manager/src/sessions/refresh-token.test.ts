import { createHash, randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { createRefreshTokens } from './refresh-token.ts';

const createKey = () => ({ d: randomBytes(32).toString('base64url') });
const key = createKey();
const tokens = createRefreshTokens([key]);
const session = { userId: v7(), id: v7() };
const bytesOf = (token: string) => Buffer.from(token, 'base64url');

test('a refresh token contains the ids of its session, but not its hash', () => {
  const { token, hash } = tokens.create(session);
  expect(tokens.read(token)).toMatchObject({ session, hash, issued: true });
  expect(bytesOf(token).includes(hash)).toBe(false);
  expect(hash).toEqual(createHash('sha256').update(bytesOf(token).subarray(32)).digest());
});

test('no two tokens of a session are equal', () => {
  const created = Array.from({ length: 100 }, () => tokens.create(session).token);
  expect(new Set(created).size).toBe(100);
});

test('the successor of a token is always the same, and differs for each token and key', () => {
  const successorsOf = (token: string, refreshTokens = tokens) =>
    refreshTokens
      .read(token)
      ?.successors()
      .map((next) => next.token) ?? [];
  const { token } = tokens.create(session);
  const [next = ''] = successorsOf(token);
  const otherKey = createKey();
  expect(successorsOf(token)).toEqual([next]);
  const [afterNext] = successorsOf(next);
  const [withOtherKey, withSameKey] = successorsOf(token, createRefreshTokens([otherKey, key]));
  expect(withSameKey).toBe(next);
  expect(new Set([token, next, afterNext, withOtherKey]).size).toBe(4);
  expect(tokens.read(next)).toMatchObject({ session, issued: true });
});

test('a token of any of the keys counts as issued', () => {
  const { token } = tokens.create(session);
  expect(createRefreshTokens([createKey(), key]).read(token)?.issued).toBe(true);
});

test('a token with a changed byte, or of an unknown key, does not count as issued', () => {
  const { token } = tokens.create(session);
  for (let index = 0; index < bytesOf(token).length; index++) {
    const forged = bytesOf(token);
    forged[index] = (forged[index] ?? 0) ^ 1;
    // A changed version or variant results in an id that is not a UUID.
    expect(tokens.read(forged.toString('base64url'))?.issued ?? false).toBe(false);
  }
  expect(createRefreshTokens([createKey()]).read(token)?.issued).toBe(false);
});

test('text without the format of a refresh token is rejected', () => {
  const { token } = tokens.create(session);
  const withoutUuids = Buffer.alloc(bytesOf(token).length, 0xee).toString('base64url');
  const others = ['', 'x', token.slice(1), `${token}A`, `${token}=`, ` ${token}`, withoutUuids];
  for (const other of [...others, token.replace(/.$/, '!')]) expect(tokens.read(other)).toBeUndefined();
});
