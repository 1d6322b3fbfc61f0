import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSecretBox } from './secret-box.ts';

const key = randomBytes(32);
const box = createSecretBox(key.toString('hex'));

test('a sealed value can be opened in its context, and differs each time', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (value, context) => {
      const sealed = box.seal(value, context);
      expect(box.open(sealed, context)).toBe(value);
      expect(box.seal(value, context)).not.toBe(sealed);
    }),
  );
});

test('a sealed value cannot be opened in another context', () => {
  const sealed = box.seal('api key of the shop', 'stores/1/pos');
  expect(box.open(sealed, 'stores/2/pos')).toBeUndefined();
  const other = createSecretBox(randomBytes(32).toString('hex'));
  expect(other.open(sealed, 'stores/1/pos')).toBeUndefined();
});

test('a sealed value with one changed, missing or added character cannot be opened', () => {
  const sealed = box.seal('api key of the shop', 'x');
  for (let at = 0; at < sealed.length; at += 1) {
    const letter = sealed[at] === 'A' ? 'B' : 'A';
    const changed = sealed.slice(0, at) + letter + sealed.slice(at + 1);
    const sameBytes = Buffer.from(changed.slice(12), 'base64url').equals(
      Buffer.from(sealed.slice(12), 'base64url'),
    );
    if (at >= 12 && sameBytes) continue;
    expect(box.open(changed, 'x')).toBeUndefined();
  }
  for (const junk of [
    '',
    'v1',
    sealed.slice(0, 30),
    sealed.slice(0, -1),
    `${sealed}AAAA`,
    'api key of the shop',
  ]) {
    expect(box.open(junk, 'x')).toBeUndefined();
  }
});

test('the first key seals; values of older keys can be opened and are outdated', () => {
  const next = randomBytes(32);
  const sealed = box.seal('secret', 'x');
  const both = createSecretBox(`${next.toString('base64')},${key.toString('hex')}`);
  expect(both.open(sealed, 'x')).toBe('secret');
  expect([both.isOutdated(sealed), both.isOutdated(both.seal('secret', 'x'))]).toEqual([true, false]);
  expect(box.open(both.seal('secret', 'x'), 'x')).toBeUndefined();
});

test('a key must be hex, base64 or base64url', () => {
  const sealed = box.seal('secret', 'x');
  for (const spelling of ['hex', 'base64', 'base64url'] as const) {
    expect(createSecretBox(key.toString(spelling)).open(sealed, 'x')).toBe('secret');
  }
  const wrong = [
    '',
    'password',
    key.toString('hex').slice(2),
    `${key.toString('hex')},`,
    randomBytes(31).toString('base64'),
  ];
  for (const text of wrong) expect(() => createSecretBox(text)).toThrow('SECRETS_KEY must be 32 bytes');
});

test('no error shows the key', () => {
  const error = (() => {
    try {
      return createSecretBox('too short a key');
    } catch (thrown) {
      return thrown;
    }
  })();
  expect((error as Error).stack).toContain('SECRETS_KEY');
  expect((error as Error).stack).not.toContain('too short a key');
});
