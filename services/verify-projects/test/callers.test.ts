import { setTimeout as sleep } from 'node:timers/promises';
import { makeApiKey } from '@platform/auth/api-keys';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const project = '0198c5a0-7e57-7000-8000-00000000ffff';
const lists = [
  '/v1/projects',
  `/v1/projects/${project}`,
  '/v1/languages',
  '/v1/languages/de',
  `/v1/projects/${project}/deliverables`,
  `/v1/projects/${project}/deliverables/${project}`,
  '/v1/feeds/verify-projects/projects',
  '/v1/feeds/verify-projects/deliverables',
  '/v1/feeds/verify-projects/languages',
];
const changes = [
  ['post', '/v1/projects'],
  ['patch', `/v1/projects/${project}`],
  ['delete', `/v1/projects/${project}`],
  ['post', `/v1/projects/${project}/deliverables`],
  ['patch', `/v1/projects/${project}/deliverables/${project}`],
  ['delete', `/v1/projects/${project}/deliverables/${project}`],
  ['put', '/v1/languages/de'],
  ['delete', '/v1/languages/de'],
  ['get', '/v1/api-keys'],
  ['post', '/v1/api-keys'],
  ['post', `/v1/api-keys/${project}/rotate`],
  ['delete', `/v1/api-keys/${project}`],
] as const;

/** Headers that are refused, by what is wrong with them. */
const strangers = async (): Promise<Record<string, Record<string, string>>> => {
  const [dead, late] = [await service.storeKey(), await service.storeKey()];
  const sql = service.context.database.sql;
  await sql`update api_keys set revoked_at = now() where id = ${dead.id}`;
  await sql`update api_keys set expires_at = now() where id = ${late.id}`;
  return {
    'no key': {},
    'an empty key': { 'X-API-Key': '' },
    junk: { 'X-API-Key': 'vk_live_junk' },
    'a key with a letter changed': {
      'X-API-Key': service.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
    },
    'a key nobody made': { 'X-API-Key': makeApiKey().key },
    'a revoked key': { 'X-API-Key': dead.key },
    'an expired key': { 'X-API-Key': late.key },
    'the key as ApiKey': { Authorization: `ApiKey ${service.key}` },
    'two keys': { 'X-API-Key': `${service.key}, ${service.key}` },
    'an unknown key with a token': {
      'X-API-Key': makeApiKey().key,
      Authorization: `Bearer ${await service.tokens.token({ scope: 'verify:read verify:admin' })}`,
    },
  };
};

describe('reading', () => {
  test.for(lists)('%s returns the same 401 for all invalid keys', async (path) => {
    const answers = new Set<string>();
    for (const headers of Object.values(await strangers())) {
      const { status, body, headers: sent } = await request(service.app).get(path).set(headers);
      answers.add(JSON.stringify({ status, ...body, requestId: '', challenge: sent['www-authenticate'] }));
    }
    expect([...answers].map((text) => JSON.parse(text) as object)).toEqual([
      expect.objectContaining({
        status: 401,
        code: 'unauthorized',
        challenge: expect.stringContaining('header="X-API-Key"'),
      }),
    ]);
  });

  test.for(lists)('%s needs the scope verify:read', async (path) => {
    for (const scopes of [[], ['verify:admin']]) {
      const { key } = await service.storeKey({ scopes });
      const { body } = await request(service.app).get(path).set('X-API-Key', key).expect(403);
      expect(body).toMatchObject({
        code: 'insufficient_scope',
        detail: expect.stringContaining('verify:read'),
      });
    }
  });

  test.for(lists)('%s is possible with a token that has verify:read or verify:admin', async (path) => {
    const statusOf = async (scope: string) => {
      const token = await service.tokens.token({ scope });
      return (await request(service.app).get(path).set('Authorization', `Bearer ${token}`)).status;
    };
    const withKey = (await request(service.app).get(path).set('X-API-Key', service.key)).status;
    expect([await statusOf('verify:read'), await statusOf('verify:admin')]).toEqual([withKey, withKey]);
    expect(await statusOf('quests:read')).toBe(403);
    const asToken = request(service.app).get(path).set('Authorization', `Bearer ${service.key}`);
    await asToken.expect(401);
  });

  test('the key is checked before the query', async () => {
    const { status } = await request(service.app).get('/v1/projects?page=0');
    expect(status).toBe(401);
  });

  test('a key in the query is an unknown parameter, with or without a key in the header', async () => {
    const { body } = await service.read(`/projects?x_api_key=${service.key}`).expect(400);
    expect(Object.keys(body.errors)).toEqual(['x_api_key']);
    expect(JSON.stringify(body)).not.toContain(service.key);
    await request(service.app).get(`/v1/projects?X-API-Key=${service.key}`).expect(401);
  });
});

describe('changing', () => {
  test.for(changes)('%s %s needs a token with verify:admin', async ([method, path]) => {
    const ask = (headers: Record<string, string>) => request(service.app)[method](path).set(headers);
    const anonymous = await ask({}).expect(401);
    expect(anonymous.headers['www-authenticate']).toMatch(/^Bearer /);
    const { key } = await service.storeKey({ scopes: ['verify:read', 'verify:admin'] });
    await ask({ 'X-API-Key': key }).expect(401);
    const token = await service.tokens.token({ scope: 'verify:read' });
    const { body } = await ask({ Authorization: `Bearer ${token}` }).expect(403);
    expect(body).toMatchObject({
      code: 'insufficient_scope',
      detail: expect.stringContaining('verify:admin'),
    });
  });
});

describe('a key in use', () => {
  test('stops working on another instance within a second of being revoked', async () => {
    const { id, key } = await service.storeKey();
    const { app } = await service.startInstance();
    const status = async () => (await request(app).get('/v1/languages').set('X-API-Key', key)).status;
    // Kept busy, so that the other instance knows the key as well as it ever does.
    for (let n = 0; n < 20; n++) expect(await status()).toBe(200);
    await service.admin.delete(`/api-keys/${id}`).expect(204);
    await sleep(1000);
    expect(await status()).toBe(401);
  });

  test('expires by the clock of the database, whatever the clock of an instance says', async () => {
    const minutes = (n: number) => new Date(Date.now() + n * 60_000).toISOString();
    const valid = await service.storeKey({ expires_at: minutes(10) });
    const expired = await service.storeKey({ expires_at: minutes(-10) });
    for (const ms of [3_600_000, -3_600_000]) {
      const { app } = await service.startInstance({}, { now: () => new Date(Date.now() + ms) });
      const read = (key: string) => request(app).get('/v1/languages').set('X-API-Key', key);
      await read(valid.key).expect(200);
      await read(expired.key).expect(401);
    }
  });

  test('has its last use written once a minute, by all instances together', async () => {
    const { id, key } = await service.storeKey();
    const { sql } = service.context.database;
    /** Whether a new process, which does not know what others wrote, writes the use of the key. */
    const writesUse = async (): Promise<boolean> => {
      // With one connection, the write comes before the next query.
      const { app, context } = await service.startInstance({ DATABASE_POOL: '1' });
      await request(app).get('/v1/languages').set('X-API-Key', key).expect(200);
      const [row] = await context.database.sql<{ written: boolean }[]>`
        select last_used_at > now() - interval '30 seconds' as written from api_keys where id = ${id}`;
      return row?.written ?? false;
    };
    const setLastUse = (secondsAgo: number) =>
      sql`update api_keys set last_used_at = now() - make_interval(secs => ${secondsAgo}) where id = ${id}`;
    expect(await writesUse()).toBe(true);
    await setLastUse(45);
    expect(await writesUse()).toBe(false);
    await setLastUse(60);
    expect(await writesUse()).toBe(true);
  });
});
