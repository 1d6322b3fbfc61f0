import { expect, test } from 'vitest';
import { createCookie } from './cookies.ts';

const session = createCookie({ name: 'access', maxAgeSeconds: 900, secure: true });
const reads = (cookie: string | undefined, of = session) =>
  of.read({ headers: cookie === undefined ? {} : { cookie } });

test('a credential cookie is HttpOnly, Secure and SameSite=Lax', () => {
  expect(session.write('abc')).toBe('__Host-access=abc; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Lax');
});

test('a cookie has the prefix __Host-, and without HTTPS none', () => {
  const options = { name: 'refresh', maxAgeSeconds: 60 };
  expect(createCookie({ ...options, secure: true }).name).toBe('__Host-refresh');
  expect(createCookie({ ...options, secure: false }).write('abc')).toBe(
    'refresh=abc; Max-Age=60; Path=/; HttpOnly; SameSite=Lax',
  );
});

test('clearing sets Max-Age=0 with the same attributes', () => {
  expect(session.clear()).toBe('__Host-access=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax');
});

test('a written value is read back from among other cookies', () => {
  const [pair = ''] = session.write('a+b/c=d é;"').split('; ');
  expect(reads(`other=1; ${pair}; more=2`)).toBe('a+b/c=d é;"');
});

test('a missing or empty cookie is undefined', () => {
  for (const header of [undefined, '', ';;;', 'access=abc', '__host-access=abc', '__Host-access=', '=x']) {
    expect(reads(header)).toBeUndefined();
  }
});

test('two different values of one name count as none, in any position', () => {
  expect(reads('__Host-access=good; __Host-access=planted')).toBeUndefined();
  expect(reads('__Host-access=planted; x=1; __Host-access=good')).toBeUndefined();
  expect(reads('__Host-access=same; __Host-access=same')).toBe('same');
});

test('cookie names such as __proto__ are ordinary names', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const odd = createCookie({ name, maxAgeSeconds: 1, secure: false });
    expect(reads('a=b', odd)).toBeUndefined();
    expect(reads(`${name}=x`, odd)).toBe('x');
  }
});
