import { expect, test } from 'vitest';
import { createCredentialCookie } from './cookies.ts';

const session = createCredentialCookie({ name: 'access', maxAgeSeconds: 900 });
const onHost = { headers: { host: 'tasks.example.test' } };
const onLocalhost = { headers: { host: 'localhost' } };
const reads = (cookie: string | undefined, of = session, { headers } = onHost) =>
  of.read({ headers: cookie === undefined ? headers : { ...headers, cookie } });

test('a credential cookie is HttpOnly, Secure and SameSite=Lax', () => {
  expect(session.write(onHost, 'abc')).toBe(
    '__Host-access=abc; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Lax',
  );
});

test('a cookie has the prefix __Host-, and without HTTPS none', () => {
  const cookie = createCredentialCookie({ name: 'refresh', maxAgeSeconds: 60 });
  expect(cookie.name).toBe('__Host-refresh');
  expect(cookie.write(onLocalhost, 'abc')).toBe('refresh=abc; Max-Age=60; Path=/; HttpOnly; SameSite=Lax');
});

test('clearing sets Max-Age=0 with the same attributes', () => {
  expect(session.clear(onHost)).toBe('__Host-access=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax');
});

test('a written value is read back from among other cookies', () => {
  const [pair = ''] = session.write(onHost, 'a+b/c=d é;"').split('; ');
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
    const odd = createCredentialCookie({ name, maxAgeSeconds: 1 });
    expect(reads('a=b', odd, onLocalhost)).toBeUndefined();
    expect(reads(`${name}=x`, odd, onLocalhost)).toBe('x');
  }
});
