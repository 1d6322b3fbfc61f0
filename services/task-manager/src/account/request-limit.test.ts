import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearerOf, operatorKeys, register, startService } from '../../test/harness.ts';

type Service = Awaited<ReturnType<typeof startService>>;
let unlimited: Service;
let limited: Service;
beforeAll(async () => {
  unlimited = await startService();
  // Without Redis, because all tests share their network there.
  const variables = { RATE_LIMIT: 'on', RATE_LIMIT_PER_MINUTE: '1', REDIS_URL: '' };
  limited = await startService({ variables, databaseUrl: unlimited.databaseUrl });
});
afterAll(async () => {
  await limited[Symbol.asyncDispose]();
  await unlimited[Symbol.asyncDispose]();
});

const userToken = async () => (await register(unlimited.app)).token;
const search = '/auth/admin/users?email=ada@example.test';
const operatorToken = () => operatorKeys.token({ scope: 'accounts:admin', sub: crypto.randomUUID() });

test.each([
  ['delete', '/auth/sessions', '/auth/check', userToken],
  ['post', '/auth/me/delete', '/auth/check', userToken],
  ['get', '/auth/security-events', '/auth/check', userToken],
  ['get', search, search, operatorToken],
] as const)(
  '%s %s answers 429 to a caller who used up the requests of a minute, and not to others',
  async (method, path, otherPath, createToken) => {
    const [ada, ben] = [await createToken(), await createToken()];
    await bearerOf(limited.app, ada)('get', otherPath).expect(200);
    const refused = await bearerOf(limited.app, ada)(method, path);
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests']);
    expect((await bearerOf(unlimited.app, ada)('get', otherPath)).status).toBe(200);
    expect((await bearerOf(limited.app, ben)(method, path)).status).toBeLessThan(300);
  },
);
