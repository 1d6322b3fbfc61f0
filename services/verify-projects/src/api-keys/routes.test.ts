import { isApiKey } from '@platform/auth/api-keys';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import request from 'supertest';
import { startService, type Service } from '../../test/harness.ts';
import { ApiKeyList } from './schema.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const nobody = '0198c5a0-7e57-7000-8000-00000000ffff';
const input = { name: 'the client', scopes: ['verify:read'] };

/** What a key gets from the lists, on an instance that has not seen it. */
const statusOf = async (key: string): Promise<number> => {
  const { app } = await service.startInstance();
  return (await request(app).get('/v1/languages').set('X-API-Key', key)).status;
};
const listed = async (id: string) => {
  const { body } = await service.admin.get('/api-keys').expect(200);
  return (body.api_keys as Record<string, unknown>[]).find((one) => one['id'] === id);
};

describe('an API key', () => {
  test('is shown once; afterwards only its first and last letters are', async () => {
    const { body, headers } = await service.admin.post('/api-keys', input).expect(201);
    const { key, ...rest } = body as { key: string; id: string; key_hint: string };
    expect(isApiKey(key)).toBe(true);
    expect(headers).toMatchObject({ location: `/v1/api-keys/${rest.id}`, 'cache-control': 'no-store' });
    expect((await service.admin.get(`/api-keys/${rest.id}`).expect(200)).body).toEqual(rest);
    await service.admin.get(`/api-keys/${nobody}`).expect(404);
    expect(rest).toEqual({
      id: rest.id,
      ...input,
      key_hint: `${key.slice(0, 11)}…${key.slice(-4)}`,
      created_at: expect.any(String),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
    });
    const list = await service.admin.get('/api-keys').expect(200);
    expect(ApiKeyList.strict().parse(list.body)).toEqual(list.body);
    expect(list.body.api_keys.at(-1)).toEqual(rest);
    expect(list.body.page).toEqual({ number: 1, has_more: false, limit: list.body.api_keys.length });
    expect(list.text).not.toContain(key.slice(11, -4));
    expect(await statusOf(key)).toBe(200);
  });

  test('is neither in the database nor in the log', async () => {
    const { body } = await service.admin.post('/api-keys', input).expect(201);
    await request(service.app).get('/v1/languages').set('X-API-Key', body.key).expect(200);
    await request(service.app).get(`/v1/languages?key=${body.key}`).expect(401);
    const rows = await service.context.database.sql`select * from api_keys`;
    const letters = (body.key as string).slice(11, -4);
    expect(JSON.stringify(rows)).not.toContain(letters);
    expect(service.lines.join('')).toContain('API key made');
    expect(service.lines.join('')).not.toContain(letters);
  });

  test('stops working when it expires', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const { body } = await service.admin.post('/api-keys', { ...input, expires_at }).expect(201);
    expect(body.expires_at).toBe(expires_at);
    expect(await statusOf(body.key)).toBe(200);
    await service.context.database.sql`update api_keys set expires_at = now() where id = ${body.id}`;
    expect(await statusOf(body.key)).toBe(401);
  });

  test.for([40, -40])(
    'expires by the clock of the database, not of an instance that is %i days off',
    async (days) => {
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      const { body: valid } = await service.admin.post('/api-keys', { ...input, expires_at }).expect(201);
      const { body: expired } = await service.admin.post('/api-keys', input).expect(201);
      await service.context.database.sql`update api_keys set expires_at = now() where id = ${expired.id}`;
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 86_400_000 });
      onTestFinished(() => void vi.useRealTimers());
      expect([await statusOf(valid.key), await statusOf(expired.key)]).toEqual([200, 401]);
    },
  );

  test('is replaced by another; the old one works for the grace period', async () => {
    const expires_at = '2126-01-01T00:00:00.000Z';
    const { body: first } = await service.admin.post('/api-keys', { ...input, expires_at }).expect(201);
    const rotate = (id: string, grace_seconds: number) =>
      service.admin.post(`/api-keys/${id}/rotate`, { grace_seconds });

    const { body: second } = await rotate(first.id, 60).expect(201);
    expect(second).toMatchObject({ ...input, expires_at });
    expect(second.id).not.toBe(first.id);
    expect(second.key).not.toBe(first.key);
    expect([await statusOf(first.key), await statusOf(second.key)]).toEqual([200, 200]);
    const ends = Date.parse((await listed(first.id))?.['expires_at'] as string);
    expect(Math.abs(ends - Date.now() - 60_000)).toBeLessThan(10_000);

    const { body: third } = await rotate(second.id, 0).expect(201);
    expect([await statusOf(second.key), await statusOf(third.key)]).toEqual([401, 200]);
    const again = await rotate(second.id, 60).expect(409);
    expect(again.body.code).toBe('key_inactive');
    await rotate(nobody, 0).expect(404);
  });

  test('is revoked permanently, and stays in the list', async () => {
    const { body } = await service.admin.post('/api-keys', input).expect(201);
    await service.admin.delete(`/api-keys/${body.id}`).expect(204);
    const revoked = await listed(body.id);
    expect(revoked?.['revoked_at']).toEqual(expect.any(String));
    expect(await statusOf(body.key)).toBe(401);
    await service.admin.delete(`/api-keys/${body.id}`).expect(204);
    expect(await listed(body.id)).toEqual(revoked);
    await service.admin.post(`/api-keys/${body.id}/rotate`, { grace_seconds: 60 }).expect(409);
    await service.admin.delete(`/api-keys/${nobody}`).expect(404);
  });

  test.for([
    ['name', { ...input, name: '' }],
    ['scopes', { name: 'x' }],
    ['scopes.0', { ...input, scopes: ['verify:everything'] }],
    ['scopes.0', { ...input, scopes: ['quests:read'] }],
    ['scopes.0', { ...input, scopes: ['verify:admin'] }],
    ['scopes', { ...input, scopes: ['verify:read', 'verify:read'] }],
    ['expires_at', { ...input, expires_at: '2020-01-01T00:00:00Z' }],
    ['expires_at', { ...input, expires_at: 'soon' }],
    ['key', { ...input, key: 'vk_live_mine' }],
  ] as const)('is refused for its %s (%j)', async ([field, wrong]) => {
    const { body } = await service.admin.post('/api-keys', wrong).expect(400);
    expect(body.code).toBe('validation_failed');
    expect(Object.keys(body.errors)).toEqual([field]);
  });

  test('cannot have a scope that only access tokens have; the answer names those it can have', async () => {
    const { body } = await service.admin
      .post('/api-keys', { ...input, scopes: ['verify:admin'] })
      .expect(400);
    expect(body.detail).toContain('verify:read');
  });

  test.for([
    {},
    { grace_seconds: -1 },
    { grace_seconds: 1.5 },
    { grace_seconds: 2_592_001 },
    { grace_seconds: '60' },
  ])('is not replaced for %j', async (wrong) => {
    const { id } = await service.storeKey();
    const { body } = await service.admin.post(`/api-keys/${id}/rotate`, wrong).expect(400);
    expect(Object.keys(body.errors)).toEqual(['grace_seconds']);
  });
});
