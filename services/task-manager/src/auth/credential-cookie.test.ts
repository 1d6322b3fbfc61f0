import { expect, test } from 'vitest';
import { createCredentialCookie, isSameOrigin } from './cookies.ts';

const cookie = createCredentialCookie({ name: 'tasks_access', maxAgeSeconds: 900 });
const on = (host: string | undefined, more: Record<string, string> = {}) => ({
  headers: { ...(host === undefined ? {} : { host }), ...more },
});

test.each([
  'tasks.example.test',
  'localhost.example.test',
  '127.0.0.1.example.test',
  '10.0.0.1:8080',
  'notlocalhost',
  undefined,
])('is Secure on %s', (host) =>
  expect(cookie.write(on(host), 'abc')).toBe(
    '__Host-tasks_access=abc; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Lax',
  ),
);

test.each(['localhost', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080', 'app.localhost:3000', 'LOCALHOST'])(
  'works without HTTPS on %s',
  (host) =>
    expect(cookie.write(on(host), 'abc')).toBe(
      'tasks_access=abc; Max-Age=900; Path=/; HttpOnly; SameSite=Lax',
    ),
);

test('the localhost cookie does not count on other hosts', () => {
  expect(cookie.read(on('localhost', { cookie: 'tasks_access=abc' }))).toBe('abc');
  expect(cookie.read(on('tasks.example.test', { cookie: 'tasks_access=abc' }))).toBeUndefined();
  expect(cookie.read(on('tasks.example.test', { cookie: '__Host-tasks_access=abc' }))).toBe('abc');
});

const cookieOf = { cookie: 'tasks_access=abc' };

test.each<Record<string, string>>([
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  { 'sec-fetch-site': 'same-origin', origin: 'null' },
  { origin: 'http://localhost:8080' },
  { origin: 'https://LOCALHOST:8080' },
  {},
])('counts in a request with %j', (headers) => {
  const req = on('localhost:8080', { ...cookieOf, ...headers });
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
])('does not count in a request with %j', (headers) => {
  const req = on('localhost:8080', { ...cookieOf, ...headers });
  expect([isSameOrigin(req), cookie.read(req)]).toEqual([false, undefined]);
});
