import { makeApiKey } from '@platform/auth/api-keys';
import { migrate, pendingMigrations } from '@platform/service-kit/migrate';
import { inTestSchema, startProxy } from '@platform/service-kit/testing';
import postgres from 'postgres';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { migrations } from '../src/context.ts';
import { projectInput, startService, type Service } from './harness.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** Nothing listens there. */
const nowhere = '127.0.0.1:1';

const get = (app: Service['app'], path: string, key: string) => request(app).get(path).set('X-API-Key', key);

describe('a malformed key', () => {
  test('causes no query, a well-formed one does', async () => {
    await using path = await startProxy(service.databaseUrl);
    const { app, context } = await service.startInstance({ DATABASE_URL: path.url, DATABASE_POOL: '1' });
    const { id, key } = await service.storeKey();
    await get(app, '/v1/languages', key).expect(200);
    // The last use is written after the response.
    const { sql } = service.context.database;
    const used = () => sql`select from api_keys where id = ${id} and last_used_at is not null`;
    await expect.poll(used).toHaveLength(1);
    const before = path.sentBytes();
    const good = makeApiKey().key;
    const junk = [
      'x',
      good.slice(1),
      `${good}a`,
      good.replace(/.$/, '!'),
      good.replace('vk_live_', 'vk_test_'),
      'é',
    ];
    for (const key of junk) await get(app, '/v1/projects', encodeURI(key)).expect(401);
    for (let n = 0; n < 100; n++)
      await get(app, '/v1/projects', `vk_live_${String(n).padStart(38, 'A')}`).expect(401);
    expect(path.sentBytes()).toBe(before);
    await get(app, '/v1/projects', good).expect(401);
    expect(path.sentBytes()).toBeGreaterThan(before);
    await context[Symbol.asyncDispose]();
  });

  test('returns 401 even while PostgreSQL is unavailable; a well-formed one returns 503', async () => {
    const { app } = await service.startInstance({ DATABASE_URL: `postgres://nobody@${nowhere}/none` });
    await get(app, '/v1/projects', 'junk').expect(401);
    const { body, headers } = await get(app, '/v1/projects', service.key).expect(503);
    expect(body.code).toBe('database_unavailable');
    expect(headers['retry-after']).toBeDefined();
  });
});

describe('PostgreSQL', () => {
  test('that is unavailable returns 503, and the service recovers when it is back', async () => {
    await using path = await startProxy(service.databaseUrl);
    const { app, context } = await service.startInstance({ DATABASE_URL: path.url });
    await get(app, '/v1/projects', service.key).expect(200);
    await path.cut();
    await get(app, '/v1/projects', service.key).expect(503);
    await request(app).get('/readyz').expect(503);
    await request(app).get('/livez').expect(200);
    await path.heal();
    await expect.poll(async () => (await get(app, '/v1/projects', service.key)).status).toBe(200);
    await context[Symbol.asyncDispose]();
  });

  test('serves a role that may only read and write rows', async () => {
    const { sql } = service.context.database;
    const role = `run_${process.pid}_${Date.now()}`;
    await sql.unsafe(`
      create role ${role} login password 'secret';
      grant usage on schema tested to ${role};
      grant select, insert, update, delete on all tables in schema tested to ${role};
      grant usage, select on all sequences in schema tested to ${role}`);
    const url = new URL(service.databaseUrl);
    [url.username, url.password] = [role, 'secret'];
    const { app, context } = await service.startInstance({ DATABASE_URL: url.href });
    const token = await service.tokens.token({ scope: 'verify:admin' });
    const { body } = await request(app)
      .post('/v1/projects')
      .set('Authorization', `Bearer ${token}`)
      .send(projectInput())
      .expect(201);
    await request(app)
      .post(`/v1/projects/${body.id}/deliverables`)
      .set('Authorization', `Bearer ${token}`)
      .send({ language: 'de', type: 'report' })
      .expect(201);
    await get(app, '/v1/projects', service.key).expect(200);
    await expect(context.database.sql`select setval('latest_updated_at', 1)`).rejects.toThrow(
      /permission denied/,
    );
    await context[Symbol.asyncDispose]();
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
  });

  test('can be migrated by two processes at the same time', async () => {
    const admin = postgres(inject('postgresUrl'), { max: 1, onnotice: () => undefined });
    const name = `migrated_${process.pid}_${Date.now()}`;
    await admin`create database ${admin(name)}`;
    const server = new URL(inject('postgresUrl'));
    server.pathname = `/${name}`;
    const url = inTestSchema(server.href);
    await Promise.all([migrate(url, migrations), migrate(url, migrations)]);
    const sql = postgres(url, { max: 1 });
    expect(await pendingMigrations(sql, migrations)).toBe(0);
    expect((await sql`select next_updated_at() as at`)[0]?.['at']).toBeInstanceOf(Date);
    await sql.end();
    await admin`drop database ${admin(name)}`;
    await admin.end();
  });
});

describe('Redis', () => {
  test.for(['', `redis://${nowhere}`])('at %j changes no response', async (REDIS_URL) => {
    const { app } = await service.startInstance({ REDIS_URL, RATE_LIMIT: 'on' });
    const { body } = await service.read('/projects').expect(200);
    const away = await get(app, '/v1/projects', service.key).expect(200);
    expect(away.body).toEqual(body);
    await get(app, '/v1/projects', 'junk').expect(401);
    await request(app).get('/readyz').expect(200);
  });

  test('limits the requests of a key and sends Retry-After', async () => {
    const { app } = await service.startInstance({ RATE_LIMIT: 'on', RATE_LIMIT_PER_MINUTE: '3' });
    const { key } = await service.storeKey();
    for (let n = 0; n < 3; n++) await get(app, '/v1/languages', key).expect(200);
    const { headers, body } = await get(app, '/v1/languages', key).expect(429);
    expect(body.code).toBe('too_many_requests');
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    await get(app, '/v1/languages', service.key).expect(200);
  });
});
