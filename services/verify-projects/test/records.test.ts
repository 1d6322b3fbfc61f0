import request from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeApiKey, rotateApiKey } from '../src/api-keys/use-cases.ts';
import { putLanguage } from '../src/languages/use-cases.ts';
import { projectInput, startService, type Service } from './harness.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const createProject = async (changes: object = {}) =>
  (await service.admin.post('/projects', projectInput(changes)).expect(201)).body as { id: string };

const deliverables = async () => `/projects/${(await createProject()).id}/deliverables`;

describe.each([
  { name: 'a project', list: () => '/projects', input: projectInput(), change: { name: 'Degrees of 2026' } },
  {
    name: 'a deliverable',
    list: deliverables,
    input: { language: 'de', type: 'report', due_at: '2026-05-01T10:00:00+02:00' },
    change: { status: 'delivered', due_at: null },
  },
])('$name', ({ list, input, change }) => {
  const create = async () => {
    const path = await list();
    const { body, headers } = await service.admin.post(path, input).expect(201);
    return { path, place: `${path}/${body.id}`, body: body as object, etag: headers['etag'] ?? '' };
  };

  test('is read with an API key; with its ETag, 304 is returned', async () => {
    const { place, body, etag } = await create();
    const { body: read, headers } = await service.read(place).expect(200);
    expect([read, headers['etag']]).toEqual([body, etag]);
    const known = await service.read(place).set('If-None-Match', etag).expect(304);
    expect([known.text, known.headers['etag']]).toEqual(['', etag]);
  });

  test('is changed and deleted only with its current ETag', async () => {
    const { place, etag } = await create();
    const changed = await service.admin.patch(place, change).set('If-Match', etag).expect(200);
    const current = changed.headers['etag'] ?? '';
    expect(current).not.toBe(etag);
    for (const stale of [service.admin.patch(place, {}), service.admin.delete(place)])
      expect((await stale.set('If-Match', etag).expect(412)).body.code).toBe('stale');
    expect((await service.read(place)).body).toEqual(changed.body);
    await service.admin
      .delete(`${place}${place.includes('deliverables') ? '' : '?force=true'}`)
      .set('If-Match', current)
      .expect(204);
    await service.read(place).expect(404);
  });

  test('is not changed by an empty merge patch or one with the current values, and neither is updated_at', async () => {
    const { place, body, etag } = await create();
    for (const patch of [{}, input]) {
      const answer = await service.admin
        .patch(place, patch)
        .set('Content-Type', 'application/merge-patch+json')
        .expect(200);
      expect([answer.body, answer.headers['etag']]).toEqual([body, etag]);
    }
  });

  test('is created once for an Idempotency-Key, however often the request is sent', async () => {
    const path = await list();
    const key = `once ${path}`;
    const send = (body: object) => service.admin.post(path, body).set('Idempotency-Key', key);
    // One caller, who sends the same request several times at once.
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(input)));
    expect(
      new Set(answers.map(({ status, text, headers }) => `${status} ${text} ${headers['etag']}`)).size,
    ).toBe(1);
    expect((await send({ ...input, ...change }).expect(422)).body.code).toBe('idempotency_key_reused');
    await service.admin.post(path, input).set('Idempotency-Key', 'x'.repeat(129)).expect(400);
  });
});

test('the same Idempotency-Key creates a deliverable in each of two projects', async () => {
  const send = async () =>
    service.admin
      .post(await deliverables(), { language: 'de', type: 'report' })
      .set('Idempotency-Key', 'for two projects');
  expect((await send()).status).toBe(201);
  expect((await send()).body.code).toBe('idempotency_key_reused');
});

describe('a project', () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

  test('is deleted when it has been archived for 30 days, or by force', async () => {
    const { id } = await createProject();
    const remove = async (query = '') => {
      const { status, body } = await service.admin.delete(`/projects/${id}${query}`);
      return [status, body.code];
    };
    expect(await remove()).toEqual([409, 'not_archived']);
    await service.admin.patch(`/projects/${id}`, { status: 'archived' }).expect(200);
    expect(await remove('?force=false')).toEqual([409, 'not_archived']);
    const { sql } = service.context.database;
    await sql`update projects set archived_at = ${daysAgo(29)} where id = ${id}`;
    expect(await remove()).toEqual([409, 'not_archived']);
    await sql`update projects set archived_at = ${daysAgo(31)} where id = ${id}`;
    await service.admin.patch(`/projects/${id}`, { name: 'Still archived' }).expect(200);
    expect(await remove()).toEqual([204, undefined]);
    const other = await createProject({ status: 'archived' });
    await service.admin.delete(`/projects/${other.id}`).expect(409);
    await service.admin.delete(`/projects/${other.id}?force=true`).expect(204);
    await service.admin.delete(`/projects/${other.id}?force=1`).expect(400);
  });

  test('is deleted after as many days as PROJECT_ARCHIVE_DAYS says, and never without having been archived', async () => {
    const { sql } = service.context.database;
    const { id } = await createProject({ status: 'archived' });
    await sql`update projects set archived_at = ${daysAgo(8)} where id = ${id}`;
    const active = await createProject();
    const removeWith = async (days: string, projectId: string) => {
      const { app } = await service.startInstance({ PROJECT_ARCHIVE_DAYS: days });
      const token = await service.tokens.token({ scope: 'verify:admin' });
      const { status, body } = await request(app)
        .delete(`/v1/projects/${projectId}`)
        .set('Authorization', `Bearer ${token}`);
      return [status, body.detail];
    };
    expect(await removeWith('9', id)).toEqual([409, expect.stringContaining('9 days')]);
    expect(await removeWith('7', id)).toEqual([204, undefined]);
    expect((await removeWith('0', active.id))[0]).toBe(409);
    await service.admin.patch(`/projects/${active.id}`, { status: 'archived' }).expect(200);
    expect((await removeWith('0', active.id))[0]).toBe(204);
    await expect(service.startInstance({ PROJECT_ARCHIVE_DAYS: '-1' })).rejects.toThrow(
      'PROJECT_ARCHIVE_DAYS',
    );
  });

  test('counts its deliverables by status, and keeps its version when they change', async () => {
    const list = await deliverables();
    const place = list.replace('/deliverables', '');
    const { body: before, headers } = await service.read(place).expect(200);
    expect(before.version).toBe(1);
    for (const status of ['pending', 'pending', 'accepted'])
      await service.admin.post(list, { language: 'de', type: 'report', status }).expect(201);
    const counted = await service
      .read(place)
      .set('If-None-Match', headers['etag'] ?? '')
      .expect(200);
    expect(counted.body).toMatchObject({
      deliverables_by_status: { pending: 2, in_progress: 0, delivered: 0, accepted: 1, rejected: 0 },
      version: 1,
    });
    // Both the ETag that was read before and the version of the list say which settings the caller has seen.
    for (const version of [headers['etag'] ?? '', '"2"']) {
      const { body } = await service.admin
        .patch(place, { name: `With ${version}` })
        .set('If-Match', version)
        .expect(200);
      expect(body.deliverables_by_status.pending).toBe(2);
    }
    expect((await service.read(place)).body.version).toBe(3);
    await service.admin.patch(place, { name: 'Old' }).set('If-Match', '"2"').expect(412);
  });

  test('that is active again cannot be deleted', async () => {
    const { id } = await createProject({ status: 'archived' });
    await service.context.database.sql`update projects set archived_at = ${daysAgo(31)} where id = ${id}`;
    await service.admin.patch(`/projects/${id}`, { status: 'active' }).expect(200);
    await service.admin.patch(`/projects/${id}`, { status: 'archived' }).expect(200);
    await service.admin.delete(`/projects/${id}`).expect(409);
  });

  test('and its deliverables are changed and deleted at the same time without an error', async () => {
    const path = await deliverables();
    const input = { language: 'de', type: 'report' };
    const ids = await Promise.all(
      Array.from({ length: 6 }, async () => String((await service.admin.post(path, input)).body.id)),
    );
    const project = path.replace('/deliverables', '');
    const answers = await Promise.all([
      ...ids.map((id) => service.admin.patch(`${path}/${id}`, { status: 'delivered' })),
      ...Array.from({ length: 6 }, () => service.admin.post(path, input)),
      ...Array.from({ length: 6 }, (_, n) => service.admin.patch(project, { name: `Name ${n}` })),
      ...ids.map((id) => service.admin.delete(`${path}/${id}`)),
    ]);
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
  });
});

test('a language has an ETag, with which it is replaced and deleted', async () => {
  const arabic = { name: 'Arabic', native_name: 'العربية', direction: 'rtl' };
  const put = (name: string, etag: string) =>
    service.admin.put('/languages/ar', { ...arabic, name }).set('If-Match', etag);
  await put('Arabic', '"none"').expect(412);
  const first = await service.admin.put('/languages/ar', arabic).expect(201);
  const etag = first.headers['etag'] ?? '';
  const read = await service.read('/languages/AR').set('If-None-Match', etag).expect(304);
  expect(read.headers['etag']).toBe(etag);
  const second = await put('Modern Arabic', etag).expect(200);
  await put('Old Arabic', etag).expect(412);
  await service.admin.delete('/languages/ar').set('If-Match', etag).expect(412);
  expect((await service.read('/languages/ar').expect(200)).body.name).toBe('Modern Arabic');
  await service.admin
    .delete('/languages/ar')
    .set('If-Match', second.headers['etag'] ?? '')
    .expect(204);
  await service.read('/languages/ar').expect(404);
});

describe('an API key', () => {
  const input = { name: 'the client', scopes: ['verify:read'] };

  test('is created once per Idempotency-Key: a repeated request gets its address, and never a secret', async () => {
    const send = (path: string, body: object) =>
      service.admin.post(path, body).set('Idempotency-Key', `once ${path}`);
    const first = await send('/api-keys', input).expect(201);
    const rotate = `/api-keys/${first.body.id}/rotate`;
    const second = await send(rotate, { grace_seconds: 60 }).expect(201);
    for (const [path, body, id] of [
      ['/api-keys', input, first.body.id],
      [rotate, { grace_seconds: 60 }, second.body.id],
    ]) {
      const repeat = await send(path, body).expect(409);
      expect(repeat.body).toMatchObject({
        code: 'idempotency_key_used',
        detail: expect.stringContaining(`/v1/api-keys/${id}`),
      });
      expect(repeat.text).not.toContain('vk_live_');
    }
    expect((await send('/api-keys', { ...input, name: 'another' }).expect(422)).body.code).toBe(
      'idempotency_key_reused',
    );
    const stored = await service.context.database.sql`select * from idempotency_keys`;
    expect(JSON.stringify(stored)).not.toContain('vk_live_');
  });

  test('is revoked only with its current ETag', async () => {
    const { body } = await service.admin.post('/api-keys', input).expect(201);
    const place = `/api-keys/${body.id}`;
    const etag = (await service.admin.get(place)).headers['etag'] ?? '';
    await service.admin.get(place).set('If-None-Match', etag).expect(304);
    await service.admin.delete(place).set('If-Match', '"another"').expect(412);
    // Using the key does not change its version.
    await service.context.database.sql`update api_keys set last_used_at = now() where id = ${body.id}`;
    await service.admin.delete(place).set('If-Match', etag).expect(204);
    await service.admin.delete(place).set('If-Match', etag).expect(412);
    expect((await service.admin.get(place).expect(200)).body.revoked_at).toEqual(expect.any(String));
  });

  test('that expires within the grace period of its replacement does not expire later', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const { body } = await service.admin.post('/api-keys', { ...input, expires_at }).expect(201);
    await service.admin.post(`/api-keys/${body.id}/rotate`, { grace_seconds: 3600 }).expect(201);
    expect((await service.admin.get(`/api-keys/${body.id}`)).body.expires_at).toBe(expires_at);
  });
});

test('changes of one language or API key, however many wait for its lock, leave connections to other requests', async () => {
  const { context, storeKey, read } = service;
  const { sql } = context.database;
  const caller = {
    subject: 'ann',
    scopes: new Set<string>(),
    sessionId: undefined,
    expiresAt: new Date(),
    stores: undefined,
    clients: undefined,
  };
  const [rotated, revoked] = [await storeKey(), await storeKey()];
  const language = { code: 'nl', name: 'Dutch', native_name: 'Nederlands', direction: 'ltr' } as const;
  const changes: (() => Promise<unknown>)[] = [
    () => putLanguage(context, language, { expected: undefined, caller: 'ann' }),
    () => rotateApiKey(context, { caller, key: undefined }, rotated.id, 3600),
    () => revokeApiKey(context, revoked.id, { caller, expected: undefined }),
  ];
  await changes[0]?.();
  const [isLocked, unlock] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const lock = sql.begin(async (tx) => {
    await tx`select from languages where code = 'nl' for update`;
    await tx`select from api_keys where id in (${rotated.id}, ${revoked.id}) for update`;
    isLocked.resolve();
    await unlock.promise;
  });
  await isLocked.promise;
  const waiting = changes.map((change) => Promise.all(Array.from({ length: 20 }, change)));
  await read('/languages').expect(200);
  unlock.resolve();
  await Promise.all([lock, ...waiting]);
});
