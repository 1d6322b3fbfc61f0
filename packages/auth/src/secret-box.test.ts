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
  expect(() => box.open(sealed, 'stores/2/pos')).toThrow('cannot be opened');
  const other = createSecretBox(randomBytes(32).toString('hex'));
  expect(() => other.open(sealed, 'stores/1/pos')).toThrow('no key');
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
    expect(() => box.open(changed, 'x')).toThrow(/cannot be opened|no key/);
  }
  for (const junk of [
    '',
    'v1',
    sealed.slice(0, 30),
    sealed.slice(0, -1),
    `${sealed}AAAA`,
    'api key of the shop',
  ]) {
    expect(() => box.open(junk, 'x')).toThrow(/cannot be opened|no key/);
  }
});

test('the first key seals; values of older keys can be opened and are outdated', () => {
  const next = randomBytes(32);
  const sealed = box.seal('secret', 'x');
  const both = createSecretBox(`${next.toString('base64')},${key.toString('hex')}`);
  expect(both.open(sealed, 'x')).toBe('secret');
  expect([both.isOutdated(sealed), both.isOutdated(both.seal('secret', 'x'))]).toEqual([true, false]);
  expect(() => box.open(both.seal('secret', 'x'), 'x')).toThrow('no key');
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

test('no error shows the value, the context or the key', () => {
  const sealed = box.seal('the value', 'the context');
  for (const attempt of [
    () => box.open(`${sealed}AAAA`, 'the context'),
    () => createSecretBox('too short a key'),
  ]) {
    const error = (() => {
      try {
        return attempt();
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(String((error as Error).stack)).not.toMatch(/the value|the context|too short a key|v1\.\w{8}/);
  }
});
