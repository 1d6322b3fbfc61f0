import supertest from 'supertest';
import { expect, test } from 'vitest';
import { at, register, startService } from '../../test/harness.ts';

const perMinute = 5;
// Without Redis, because all tests share their network there.
const variables = { RATE_LIMIT: 'on', RATE_LIMIT_PER_MINUTE: String(perMinute), REDIS_URL: '' };

type App = Awaited<ReturnType<typeof startService>>['app'];

const refresh = async (app: App, cookie: string): Promise<number> =>
  (await supertest(app).post(at('/auth/refresh')).set('Cookie', cookie)).status;

const refreshCookie = ({ cookies }: { cookies: string }): string =>
  /tasks_refresh=[\w-]+/.exec(cookies)?.[0] ?? '';

test('a valid refresh cookie works although other clients have used up the request limit of its network', async () => {
  await using service = await startService({ variables });
  const cookie = refreshCookie(await register(service.app));
  const forged = `tasks_refresh=${Buffer.alloc(128, 1).toString('base64url')}`;
  for (let count = 0; count < perMinute; count++) await refresh(service.app, count % 2 ? forged : '');
  expect(await refresh(service.app, forged)).toBe(429);
  expect(await refresh(service.app, cookie)).toBe(200);
});

test('refreshes are limited per session', async () => {
  await using service = await startService({ variables });
  const [ann, bob] = [await register(service.app), await register(service.app)].map(refreshCookie);
  const statuses = [];
  for (let count = 0; count <= perMinute; count++) statuses.push(await refresh(service.app, ann ?? ''));
  expect(statuses).toEqual([...Array(perMinute).fill(200), 429]);
  expect(await refresh(service.app, bob ?? '')).toBe(200);
});
