import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEnv, commonEnv } from '../src/process/env.ts';
import { startFixture } from './harness.ts';

const app = 'https://app.example.test';
let fixture: Awaited<ReturnType<typeof startFixture>>;
beforeAll(async () => {
  fixture = await startFixture({ CORS_ORIGINS: `${app},http://localhost:3000` });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const send = (path: string, origin: string | undefined, init: RequestInit = {}) =>
  fetch(fixture.url + path, {
    ...init,
    headers: { ...(origin !== undefined && { Origin: origin }), ...init.headers },
  });
const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control')));

describe('an allowed origin', () => {
  test.each(['/v1/notes/none', '/v1/nothing', '/v1/broken', '/livez'])(
    'may read every answer of %s, and no cookies are sent',
    async (path) => {
      const answer = await send(path, app);
      expect(corsOf(answer)).toEqual({
        'access-control-allow-origin': app,
        'access-control-expose-headers':
          'Deprecation, ETag, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, X-Request-Id',
      });
      expect(answer.headers.get('vary')).toBe('Origin');
    },
  );

  test.each(['/v1/notes', '/v1/notes/a', '/v1/nothing'])(
    'gets its preflight for %s answered before the method is checked',
    async (path) => {
      const answer = await send(path, app, {
        method: 'OPTIONS',
        headers: {
          'Access-Control-Request-Method': 'PATCH',
          'Access-Control-Request-Headers': 'authorization,content-type,if-match',
        },
      });
      expect(answer.status).toBe(204);
      expect(corsOf(answer)).toMatchObject({
        'access-control-allow-origin': app,
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': 'authorization,content-type,if-match',
        'access-control-max-age': '600',
      });
      expect(answer.headers.get('vary')).toBe('Access-Control-Request-Headers, Origin');
    },
  );
});

describe('every other origin', () => {
  test.each([
    undefined,
    'null',
    'https://app.example.test.evil.test',
    'https://app.example.test:8443',
    'http://app.example.test',
    'HTTPS://APP.EXAMPLE.TEST',
    `${app},http://localhost:3000`,
  ])('%s gets no CORS header, and Vary: Origin tells caches so', async (origin) => {
    const preflight = { method: 'OPTIONS', headers: { 'Access-Control-Request-Method': 'POST' } };
    for (const init of [{}, preflight]) {
      const answer = await send('/v1/notes', origin, init);
      expect(corsOf(answer)).toEqual({});
      expect(answer.headers.get('vary')).toBe('Origin');
    }
  });
});

test('without CORS_ORIGINS nothing is allowed and nothing varies', async () => {
  await using closed = await startFixture();
  const answer = await fetch(`${closed.url}/v1/nothing`, { headers: { Origin: app } });
  expect([corsOf(answer), answer.headers.get('vary')]).toEqual([{}, null]);
});

test.each([
  '*',
  'null',
  'https://*.example.test',
  'https://app.example.test/',
  'app.example.test',
  'file://',
])('the setting %s is rejected with the name of the variable', (origins) => {
  const { CORS_ORIGINS } = commonEnv;
  expect(() => readEnv({ CORS_ORIGINS }, { CORS_ORIGINS: origins })).toThrow('CORS_ORIGINS is wrong');
});
