import { expect, test } from 'vitest';
import { createCredentialCookie, isSameOrigin } from './cookies.ts';

const session = createCredentialCookie({ name: 'access', maxAgeSeconds: 900 });
const onHost = { headers: { host: 'tasks.example.test' } };
const onLocalhost = { headers: { host: 'localhost' } };
const readCookie = (cookie: string | undefined, credential = session, { headers } = onHost) =>
  credential.read({ headers: cookie === undefined ? headers : { ...headers, cookie } });

test('a credential cookie is HttpOnly, Secure and SameSite=Lax', () => {
  expect(session.write(onHost, 'abc')).toBe(
    '__Host-access=abc; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Lax',
  );
});

test('a cookie name has the prefix __Host-, except requestTo localhost', () => {
  const cookie = createCredentialCookie({ name: 'refresh', maxAgeSeconds: 60 });
  expect(cookie.name).toBe('__Host-refresh');
  expect(cookie.write(onLocalhost, 'abc')).toBe('refresh=abc; Max-Age=60; Path=/; HttpOnly; SameSite=Lax');
});

test('clearing sets Max-Age=0 with the same attributes', () => {
  expect(session.clear(onHost)).toBe('__Host-access=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax');
});

test('a value is read back when other cookies surround it', () => {
  const [pair = ''] = session.write(onHost, 'a+b/c=d é;"').split('; ');
  expect(readCookie(`other=1; ${pair}; more=2`)).toBe('a+b/c=d é;"');
});

test('a missing or empty cookie is undefined', () => {
  for (const header of [undefined, '', ';;;', 'access=abc', '__host-access=abc', '__Host-access=', '=x']) {
    expect(readCookie(header)).toBeUndefined();
  }
});

test('a cookie with two different values is ignored, in any order', () => {
  expect(readCookie('__Host-access=good; __Host-access=planted')).toBeUndefined();
  expect(readCookie('__Host-access=planted; x=1; __Host-access=good')).toBeUndefined();
  expect(readCookie('__Host-access=same; __Host-access=same')).toBe('same');
});

test('cookie names such as __proto__ are ordinary names', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const credential = createCredentialCookie({ name, maxAgeSeconds: 1 });
    expect(readCookie('a=b', credential, onLocalhost)).toBeUndefined();
    expect(readCookie(`${name}=x`, credential, onLocalhost)).toBe('x');
  }
});

const cookie = createCredentialCookie({ name: 'tasks_access', maxAgeSeconds: 900 });
const requestTo = (host: string | undefined, headers: Record<string, string> = {}) => ({
  headers: { ...(host === undefined ? {} : { host }), ...headers },
});

test.each([
  'tasks.example.test',
  'localhost.example.test',
  '127.0.0.1.example.test',
  '10.0.0.1:8080',
  'notlocalhost',
  undefined,
])('is Secure on %s', (host) =>
  expect(cookie.write(requestTo(host), 'abc')).toBe(
    '__Host-tasks_access=abc; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Lax',
  ),
);

test.each(['localhost', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080', 'app.localhost:3000', 'LOCALHOST'])(
  'works without HTTPS on %s',
  (host) =>
    expect(cookie.write(requestTo(host), 'abc')).toBe(
      'tasks_access=abc; Max-Age=900; Path=/; HttpOnly; SameSite=Lax',
    ),
);

test('the localhost cookie is ignored on other hosts', () => {
  expect(cookie.read(requestTo('localhost', { cookie: 'tasks_access=abc' }))).toBe('abc');
  expect(cookie.read(requestTo('tasks.example.test', { cookie: 'tasks_access=abc' }))).toBeUndefined();
  expect(cookie.read(requestTo('tasks.example.test', { cookie: '__Host-tasks_access=abc' }))).toBe('abc');
});

const cookieHeader = { cookie: 'tasks_access=abc' };

test.each<Record<string, string>>([
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  { 'sec-fetch-site': 'same-origin', origin: 'null' },
  { origin: 'http://localhost:8080' },
  { origin: 'https://LOCALHOST:8080' },
  {},
])('is accepted in a request with %j', (headers) => {
  const req = requestTo('localhost:8080', { ...cookieHeader, ...headers });
  expect([isSameOrigin(req), cookie.read(req)]).toEqual([true, 'abc']);
});

test.each<Record<string, string>>([
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'same-site', origin: 'http://localhost:8080' },
  { 'sec-fetch-site': 'same-origin, cross-site' },
  { 'sec-fetch-site': '' },
  { origin: 'http://app.localhost:8080' },
  { origin: 'http://localhost:3000' },
  { origin: 'http://localhost' },
  { origin: 'null' },
  { origin: '' },
])('is ignored in a request with %j', (headers) => {
  const req = requestTo('localhost:8080', { ...cookieHeader, ...headers });
  expect([isSameOrigin(req), cookie.read(req)]).toEqual([false, undefined]);
});
