import { expect, test } from 'vitest';
import { createCredentialCookie, isCrossSite } from './credential-cookie.ts';

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
  'does without HTTPS on %s',
  (host) =>
    expect(cookie.write(on(host), 'abc')).toBe(
      'tasks_access=abc; Max-Age=900; Path=/; HttpOnly; SameSite=Lax',
    ),
);

test('the one for this machine does not count elsewhere', () => {
  expect(cookie.read(on('localhost', { cookie: 'tasks_access=abc' }))).toBe('abc');
  expect(cookie.read(on('tasks.example.test', { cookie: 'tasks_access=abc' }))).toBeUndefined();
  expect(cookie.read(on('tasks.example.test', { cookie: '__Host-tasks_access=abc' }))).toBe('abc');
});

test.each(['same-origin', 'same-site', 'none', undefined])('counts in a request that is %s', (site) => {
  const headers = { cookie: 'tasks_access=abc', ...(site === undefined ? {} : { 'sec-fetch-site': site }) };
  expect(cookie.read(on('localhost', headers))).toBe('abc');
  expect(isCrossSite(on('localhost', headers))).toBe(false);
});

test('does not count in a request that another site caused', () => {
  expect(
    cookie.read(on('localhost', { cookie: 'tasks_access=abc', 'sec-fetch-site': 'cross-site' })),
  ).toBeUndefined();
});
