import { expect, test } from 'vitest';
import { createCookie } from './cookies.ts';

const session = createCookie({ name: 'access', maxAgeSeconds: 900, secure: true });
const reads = (cookie: string | undefined, of = session) =>
  of.read({ headers: cookie === undefined ? {} : { cookie } });

test('a credential cookie can not be read by scripts nor sent by other sites', () => {
  expect(session.write('abc')).toBe('__Host-access=abc; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Lax');
});

test('one for a part of the site says so, and on localhost needs no HTTPS', () => {
  const options = { name: 'refresh', path: '/api/v1/auth', maxAgeSeconds: 60 };
  expect(createCookie({ ...options, secure: true }).name).toBe('__Secure-refresh');
  expect(createCookie({ ...options, secure: false }).write('abc')).toBe(
    'refresh=abc; Max-Age=60; Path=/api/v1/auth; HttpOnly; SameSite=Lax',
  );
});

test('it is forgotten at once, with the attributes it was set with', () => {
  expect(session.clear()).toBe('__Host-access=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax');
});

test('what was written is read back among others', () => {
  const [pair = ''] = session.write('a+b/c=d é;"').split('; ');
  expect(reads(`other=1; ${pair}; more=2`)).toBe('a+b/c=d é;"');
});

test('none is none', () => {
  for (const header of [undefined, '', ';;;', 'access=abc', '__host-access=abc', '__Host-access=', '=x']) {
    expect(reads(header)).toBeUndefined();
  }
});

test('two different values of one name count as none, wherever they stand', () => {
  expect(reads('__Host-access=good; __Host-access=planted')).toBeUndefined();
  expect(reads('__Host-access=planted; x=1; __Host-access=good')).toBeUndefined();
  expect(reads('__Host-access=same; __Host-access=same')).toBe('same');
});

test('names of object internals are just names', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const odd = createCookie({ name, maxAgeSeconds: 1, secure: false });
    expect(reads('a=b', odd)).toBeUndefined();
    expect(reads(`${name}=x`, odd)).toBe('x');
  }
});
