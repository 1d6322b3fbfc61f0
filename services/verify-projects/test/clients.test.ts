import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectInput, startService, type Service } from './harness.ts';
import { sync } from './sync.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

interface Shown {
  id: string;
  name: string;
  client: string | null;
  status: string;
  updated_at: string;
}

const create = async (client: string | null, changes: object = {}) =>
  (await service.admin.post('/projects', projectInput({ client, ...changes })).expect(201)).body as Shown;

const createKey = async (clients?: string[]) =>
  (await service.admin.post('/api-keys', { name: 'a partner', scopes: ['verify:read'], clients }).expect(201))
    .body as { id: string; key: string; clients: string[] | null };

/** GETs with a key. */
const readBy = (key: string) => (path: string) =>
  request(service.app).get(`/v1${path}`).set('X-API-Key', key);

const tokenOf = (scope: string, clients?: string[]) =>
  service.tokens.token({ scope, ...(clients && { claims: { clients } }) });

/** GETs with an access token that the claim `clients` limits. */
const readByToken = async (clients: string[], scope = 'verify:read') => {
  const token = await tokenOf(scope, clients);
  return (path: string) => request(service.app).get(`/v1${path}`).set('Authorization', `Bearer ${token}`);
};

const idsOf = (body: { projects: { id: string }[] }) => body.projects.map(({ id }) => id);

test('a client that is a UUID is found by a token and a key, however it was written', async () => {
  const id = randomUUID();
  const project = await create(id.toUpperCase());
  expect(project.client).toBe(id);
  const { key, clients } = await createKey([id.toUpperCase()]);
  expect(clients).toEqual([id]);
  for (const read of [readBy(key), await readByToken([id]), await readByToken([id.toUpperCase()])])
    expect(idsOf((await read('/projects').expect(200)).body)).toEqual([project.id]);
  await service.admin.delete(`/projects/${project.id}?force=true`).expect(204);
});

describe('a key that is limited to clients', () => {
  test('reads their projects and deliverables; those of others and of none are 404', async () => {
    const [own, second, other, none] = [
      await create('Tartu'),
      await create('Anna'),
      await create('tartu'),
      await create(null),
    ];
    const deliverables = [];
    for (const { id } of [own, other]) {
      const input = { language: 'de', type: 'report' };
      deliverables.push(
        (await service.admin.post(`/projects/${id}/deliverables`, input).expect(201)).body.id,
      );
    }
    const { key } = await createKey(['Tartu', 'Anna', 'Nobody']);
    const read = readBy(key);
    expect(idsOf((await read('/projects').expect(200)).body).toSorted()).toEqual(
      [own.id, second.id].toSorted(),
    );
    await read(`/projects/${own.id}`).expect(200);
    await read(`/projects/${own.id}/deliverables`).expect(200);
    await read(`/projects/${own.id}/deliverables/${deliverables[0]}`).expect(200);
    await read('/languages').expect(200);
    for (const { id } of [other, none]) {
      expect((await read(`/projects/${id}`).expect(404)).body.detail).toBe('There is no such project.');
      await read(`/projects/${id}/deliverables`).expect(404);
    }
    await read(`/projects/${other.id}/deliverables/${deliverables[1]}`).expect(404);
    await read(`/projects/${own.id}/deliverables/${deliverables[1]}`).expect(404);
    // A version that somebody else has told does not show that the project exists.
    const { headers } = await service.read(`/projects/${other.id}`);
    await read(`/projects/${other.id}`).set('If-None-Match', String(headers['etag'])).expect(404);
    expect(idsOf((await service.read('/projects')).body)).toHaveLength(4);
  });

  test('shows its clients, and its replacement has the same', async () => {
    const { id, key, clients } = await createKey(['Rotated']);
    expect(clients).toEqual(['Rotated']);
    expect((await service.admin.get(`/api-keys/${id}`)).body.clients).toEqual(['Rotated']);
    const project = await create('Rotated');
    const { body } = await service.admin.post(`/api-keys/${id}/rotate`, { grace_seconds: 60 }).expect(201);
    expect(body.clients).toEqual(['Rotated']);
    for (const one of [key, String(body.key)])
      expect(idsOf((await readBy(one)('/projects').expect(200)).body)).toEqual([project.id]);
    expect((await createKey()).clients).toBeNull();
  });

  test.for([
    ['clients', []],
    ['clients', 'Tartu'],
    ['clients', ['Tartu', 'Tartu']],
    ['clients', Array.from({ length: 21 }, (_, n) => `Client ${n}`)],
    ['clients.0', ['']],
    ['clients.0', ['x'.repeat(201)]],
    ['clients.0', ['a\0b']],
    ['clients.1', ['Tartu', null]],
  ] as const)('is refused for %s %j', async ([field, clients]) => {
    const input = { name: 'a partner', scopes: ['verify:read'], clients };
    const { body } = await service.admin.post('/api-keys', input).expect(400);
    expect(Object.keys(body.errors)).toEqual([field]);
  });

  test('follows changes, and sees that a project is archived', async () => {
    const { key } = await createKey(['Synchronised']);
    const [kept, ended] = [await create('Synchronised'), await create('Synchronised')];
    await create('Another');
    const copy = new Map<string, Shown>();
    const follow = (since?: string) =>
      sync<Shown>(
        async (query) => (await readBy(key)(`/projects?${query}`).expect(200)).body,
        copy,
        since,
        2,
      );
    const seen = await follow();
    await service.admin.delete(`/projects/${ended.id}`).expect(409);
    await service.admin.patch(`/projects/${ended.id}`, { status: 'archived' }).expect(200);
    const later = await create('Synchronised');
    await follow(seen);
    expect([kept, ended, later].map(({ id }) => copy.get(id)?.status)).toEqual([
      'draft',
      'archived',
      'draft',
    ]);
    expect(copy.size).toBe(3);
  });

  test('prevents that a project gets another client, because its holder would not learn of it', async () => {
    const { id } = await create('Held');
    const { id: keyId } = await createKey(['Other', 'Held']);
    for (const client of ['Taker', null]) {
      const { body } = await service.admin.patch(`/projects/${id}`, { client }).expect(409);
      expect(body.code).toBe('client_has_keys');
    }
    await service.admin.patch(`/projects/${id}`, { client: 'Held', name: 'Renamed' }).expect(200);
    const { id: unowned } = await create(null);
    await service.admin.patch(`/projects/${unowned}`, { client: 'Held' }).expect(200);
    await service.admin.delete(`/api-keys/${keyId}`).expect(204);
    expect((await service.admin.patch(`/projects/${id}`, { client: 'Taker' }).expect(200)).body.client).toBe(
      'Taker',
    );
  });
});

describe('a token with the claim clients', () => {
  const client = '01980000-0000-7000-8000-00000000abcd';

  test('reads the projects of these clients only, whatever its scope', async () => {
    const [own, other] = [await create(client), await create('Somebody')];
    for (const scope of ['verify:read', 'verify:admin']) {
      const read = await readByToken([client.toUpperCase()], scope);
      expect(idsOf((await read('/projects').expect(200)).body)).toEqual([own.id]);
      await read(`/projects/${own.id}`).expect(200);
      await read(`/projects/${other.id}`).expect(404);
    }
    const nobody = await readByToken([]);
    expect((await nobody('/projects?limit=1').expect(200)).body).toEqual({
      projects: [],
      page: { number: 1, has_more: false, limit: 1 },
    });
    await nobody(`/projects/${own.id}`).expect(404);
  });

  test('cannot change anything, because a key that it creates would not be limited', async () => {
    const { id } = await create(client);
    const token = await tokenOf('verify:admin', [client]);
    const call = (method: 'get' | 'post' | 'patch' | 'put' | 'delete', path: string) =>
      request(service.app)[method](`/v1${path}`).set('Authorization', `Bearer ${token}`);
    const refused = [
      call('get', '/api-keys'),
      call('post', '/api-keys').send({ name: 'all', scopes: ['verify:read'] }),
      call('post', '/projects').send(projectInput({ client })),
      call('patch', `/projects/${id}`).send({ name: 'Mine' }),
      call('delete', `/projects/${id}?force=true`),
      call('post', `/projects/${id}/deliverables`).send({ language: 'de', type: 'report' }),
      call('put', '/languages/de').send({ name: 'German', native_name: 'Deutsch', direction: 'ltr' }),
    ];
    for (const answer of refused) {
      const { body } = await answer.expect(403);
      expect(body).toMatchObject({ code: 'insufficient_scope', detail: expect.stringContaining('clients') });
    }
  });
});

describe('pages of a limited key', () => {
  const [first, second] = ['First of the pages', 'Second of the pages'];
  let key = '';
  beforeAll(async () => {
    await service.context.database.sql`
      insert into projects (id, name, client, status, source_language, target_languages, created_at, updated_at)
      select gen_random_uuid(), 'p' || n, (array[${first}, ${second}, 'Neither'])[1 + n % 3],
        (array['draft', 'active', 'archived'])[1 + (n * n) % 7 % 3], 'en', '{}', at, at
      from generate_series(1, 6000) n, lateral (select timestamptz '2026-01-01' + n / 3 * interval '1 s' as at) time`;
    key = (await createKey([second, first])).key;
  });

  const middle = '2026-01-01T00:16:40.000Z';

  test.each([
    {},
    { status: 'active' },
    { modified_after: middle },
    { status: 'draft', modified_after: middle },
  ])('equal those of OFFSET: %j', async (filter: Record<string, string>) => {
    const rows = await service.context.database.sql<{ id: string }[]>`
        select id from projects where client in (${first}, ${second})
          and (${filter['status'] ?? null}::text is null or status = ${filter['status'] ?? null})
          and updated_at >= ${filter['modified_after'] ?? '-infinity'}
        order by updated_at, id`;
    const last = Math.ceil(rows.length / 200);
    for (const page of [1, 2, last >> 1, last - 1, last, last + 1, 100_000]) {
      const query = new URLSearchParams({ page: `${page}`, limit: '200', ...filter });
      const { body } = await readBy(key)(`/projects?${query.toString()}`).expect(200);
      expect(idsOf(body)).toEqual(rows.slice((page - 1) * 200, page * 200).map(({ id }) => id));
      expect(body.page).toEqual({ number: page, has_more: page < last, limit: 200 });
    }
  });

  test('that are late, or of many clients, delay only each other', async () => {
    const { app, context } = await service.startInstance({ SEARCH_POOL: '1', SEARCH_QUEUE: '0' });
    const read = (page: number) =>
      request(app).get(`/v1/projects?limit=200&page=${page}`).set('X-API-Key', key);
    const [isBusy, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const busy = context.latePages.run(async (sql) => {
      await sql`select`;
      isBusy.resolve();
      await end.promise;
    });
    await isBusy.promise;
    expect((await read(11).expect(503)).body.code).toBe('too_busy');
    await read(10).expect(200);
    const clients = Array.from({ length: 81 }, () => randomUUID());
    const token = await tokenOf('verify:read', clients);
    const first = () => request(app).get('/v1/projects').set('Authorization', `Bearer ${token}`);
    expect((await first().expect(503)).body.code).toBe('too_busy');
    end.resolve();
    await busy;
    await read(11).expect(200);
    await first().expect(200);
  });
});
