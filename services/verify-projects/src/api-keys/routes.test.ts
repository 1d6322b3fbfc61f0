import { hashApiKey, isApiKey } from '@platform/auth/api-keys';
import { startPruning } from '@platform/service-kit/pruning';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import request from 'supertest';
import { minutesOff, startService, type Service } from '../../test/harness.ts';
import { ApiKeyList } from './schema.ts';
import { outdatedApiKeys } from './queries.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const nobody = '0198c5a0-7e57-7000-8000-00000000ffff';
const input = { name: 'the client', scopes: ['verify:read'] };

/** The status that a key gets from an instance that has not cached it. */
const statusOf = async (key: string): Promise<number> => {
  const { app } = await service.startInstance();
  return (await request(app).get('/v1/languages').set('X-API-Key', key)).status;
};
const listed = async (id: string) => {
  const { body } = await service.admin.get('/api-keys?limit=200&include=revoked').expect(200);
  return (body.api_keys as Record<string, unknown>[]).find((apiKey) => apiKey['id'] === id);
};

describe('an API key', () => {
  test('is returned once; afterwards only its first and last letters are', async () => {
    const { body, headers } = await service.admin.post('/api-keys', input).expect(201);
    const { key, ...rest } = body as { key: string; id: string; key_hint: string };
    expect(isApiKey(key)).toBe(true);
    expect(headers).toMatchObject({ location: `/v1/api-keys/${rest.id}`, 'cache-control': 'no-store' });
    expect((await service.admin.get(`/api-keys/${rest.id}`).expect(200)).body).toEqual(rest);
    await service.admin.get(`/api-keys/${nobody}`).expect(404);
    expect(rest).toEqual({
      id: rest.id,
      ...input,
      clients: null,
      key_hint: `${key.slice(0, 11)}…${key.slice(-4)}`,
      created_at: expect.any(String),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
    });
    const list = await service.admin.get('/api-keys').expect(200);
    expect(ApiKeyList.strict().parse(list.body)).toEqual(list.body);
    expect(list.body.api_keys.at(-1)).toEqual(rest);
    expect(list.body.page).toEqual({ number: 1, has_more: false, limit: 50 });
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
    expect(service.lines.join('')).toContain('API key created');
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

  test.for([null, '2126-01-01T00:00:00.000Z'])(
    'that is replaced a second time passes on the expiry it was created with (%j), not the end of its grace period',
    async (expires_at) => {
      const { body: first } = await service.admin.post('/api-keys', { ...input, expires_at }).expect(201);
      const rotate = (id: string, grace_seconds: number) =>
        service.admin.post(`/api-keys/${id}/rotate`, { grace_seconds }).expect(201);
      const second = await rotate(first.id, 60);
      const grace = (await listed(first.id))?.['expires_at'];
      const third = await rotate(first.id, 3600);
      const fourth = await rotate(third.body.id, 60);
      expect([second, third, fourth].map(({ body }) => body.expires_at)).toEqual(Array(3).fill(expires_at));
      expect((await listed(first.id))?.['expires_at']).toBe(grace);
      await service.context.database.sql`update api_keys set expires_at = now() where id = ${first.id}`;
      expect(await statusOf(third.body.key)).toBe(200);
    },
  );

  test('is revoked permanently, and stays in the list with ?include=revoked', async () => {
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

  test('cannot have a scope that only access tokens have; the error names the possible scopes', async () => {
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

describe('the list of API keys', () => {
  test('has pages like the other lists, oldest first', async () => {
    await using own = await startService();
    for (let n = 0; n < 4; n++) await own.admin.post('/api-keys', { ...input, name: `key ${n}` }).expect(201);
    const pages = [];
    for (const query of ['limit=2', 'limit=2&page=2', 'page=3&limit=2', 'limit=2&page=4']) {
      const { body } = await own.admin.get(`/api-keys?${query}`).expect(200);
      pages.push([(body.api_keys as { name: string }[]).map(({ name }) => name), body.page]);
    }
    const page = (number: number, has_more: boolean) => ({ number, has_more, limit: 2 });
    expect(pages).toEqual([
      [['a test', 'key 0'], page(1, true)],
      [['key 1', 'key 2'], page(2, true)],
      [['key 3'], page(3, false)],
      [[], page(4, false)],
    ]);
  });

  test('has revoked, replaced and expired keys only with include=revoked', async () => {
    await using own = await startService();
    const { sql } = own.context.database;
    const [revoked, replaced, expired, valid] = await Promise.all(
      ['revoked', 'replaced', 'expired', 'valid'].map(async (name) => {
        const { body } = await own.admin.post('/api-keys', { ...input, name }).expect(201);
        return String(body.id);
      }),
    );
    await own.admin.delete(`/api-keys/${revoked}`).expect(204);
    const { body: replacement } = await own.admin.post(`/api-keys/${replaced}/rotate`, { grace_seconds: 0 });
    await sql`update api_keys set expires_at = now() where id = ${expired ?? ''}`;
    const ids = async (query: string) => {
      const { body } = await own.admin.get(`/api-keys${query}`).expect(200);
      return (body.api_keys as { id: string }[]).map(({ id }) => id);
    };
    const [first] = await ids('');
    expect(await ids('')).toEqual([first, valid, replacement.id]);
    expect(new Set(await ids('?include=revoked'))).toEqual(
      new Set([first, revoked, replaced, expired, valid, replacement.id]),
    );
  });

  test('keeps a key for 90 days after it was revoked or has expired, whichever came first', async () => {
    await using own = await startService();
    const { sql } = own.context.database;
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    const [old, young] = [daysAgo(91), daysAgo(89)];
    await own.storeKey({ revoked_at: old });
    await own.storeKey({ expires_at: old });
    await own.storeKey({ expires_at: old, revoked_at: young });
    await own.storeKey({ expires_at: '2126-01-01T00:00:00.000Z', revoked_at: old });
    const kept = [
      own.key,
      (await own.storeKey({ revoked_at: young })).key,
      (await own.storeKey({ expires_at: young })).key,
      (await own.storeKey({ created_at: old })).key,
      (await own.storeKey({ expires_at: '2126-01-01T00:00:00.000Z' })).key,
    ].map(hashApiKey);
    await using _pruning = startPruning({ sql, log: own.context.log, prunables: [outdatedApiKeys] });
    const hashes = async () =>
      (await sql`select key_hash from api_keys`).map((row) => row['key_hash'] as string).toSorted();
    await expect.poll(hashes).toEqual(kept.toSorted());
  });

  test.for(['include=', 'include=expired', 'include=all', 'page=0', 'limit=201', 'sort=name'])(
    'refuses ?%s by name',
    async (query) => {
      const { body } = await service.admin.get(`/api-keys?${query}`).expect(400);
      expect(Object.keys(body.errors)).toEqual([query.split('=')[0]]);
    },
  );

  test.for([40, -40])(
    'is ordered by the clock of the database, not of an instance that is %i days off',
    async (days) => {
      await using own = await startService();
      const create = async (name: string) => {
        await own.admin.post('/api-keys', { ...input, name }).expect(201);
      };
      await create('first');
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 86_400_000 });
      onTestFinished(() => void vi.useRealTimers());
      const wrong = await own.startInstance();
      const token = await own.tokens.token({ scope: 'verify:admin' });
      const { body: second } = await request(wrong.app)
        .post('/v1/api-keys')
        .set('Authorization', `Bearer ${token}`)
        .send({ ...input, name: 'second' })
        .expect(201);
      vi.useRealTimers();
      expect(minutesOff(second.id)).toBeLessThan(10);
      await create('third');
      const { body } = await own.admin.get('/api-keys').expect(200);
      expect((body.api_keys as { name: string }[]).map(({ name }) => name)).toEqual([
        'a test',
        'first',
        'second',
        'third',
      ]);
    },
  );
});
