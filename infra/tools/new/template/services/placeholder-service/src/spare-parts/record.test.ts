import { randomUUID } from 'node:crypto';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { get, patch, post, remove, startService, tokenWith } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

test('a created spare part can be read at its Location', async () => {
  const created = await post(service, '/spare-parts', { name: 'Häuser 🏠' }).expect(201);
  expect(created.body).toEqual({
    sparePartId: expect.any(String),
    name: 'Häuser 🏠',
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(created.headers['location']).toBe(`/v1/spare-parts/${created.body.sparePartId}`);
  const path = String(created.headers['location']).slice('/v1'.length);
  const read = await get(service, path).expect(200);
  expect(read.body).toEqual(created.body);
});

test('a spare part is created once for each Idempotency-Key', async () => {
  const create = (name: string) => post(service, '/spare-parts', { name }).set('Idempotency-Key', 'one');
  const first = await create('Once').expect(201);
  expect((await create('Once').expect(201)).body).toEqual(first.body);
  expect((await create('Twice').expect(422)).body.code).toBe('idempotency_key_reused');
});

test('a spare part is changed and deleted only with its current version', async () => {
  const created = await post(service, '/spare-parts', { name: 'Old' }).expect(201);
  const path = `/spare-parts/${created.body.sparePartId}`;
  const old = String(created.headers['etag']);
  await get(service, path).set('If-None-Match', old).expect(304);
  const changed = await patch(service, path, { name: 'New' }).set('If-Match', old).expect(200);
  expect(changed.body).toEqual({ ...created.body, name: 'New' });
  await patch(service, path, { name: 'Other' }).set('If-Match', old).expect(412);
  await remove(service, path).set('If-Match', old).expect(412);
  await remove(service, path).set('If-Match', String(changed.headers['etag'])).expect(204);
  await get(service, path).expect(404);
});

test('spare parts are listed newest first, in pages', async () => {
  await using emptyService = await startService();
  for (const name of ['a', 'b', 'c']) await post(emptyService, '/spare-parts', { name }).expect(201);
  const page = async (query: string) => {
    const { body } = await get(emptyService, `/spare-parts${query}`).expect(200);
    return [body.spareParts.map(({ name }: { name: string }) => name), body.page];
  };
  expect(await page('')).toEqual([['c', 'b', 'a'], { number: 1, has_more: false, limit: 50 }]);
  expect(await page('?limit=2')).toEqual([['c', 'b'], { number: 1, has_more: true, limit: 2 }]);
  expect(await page('?page=2&limit=2')).toEqual([['a'], { number: 2, has_more: false, limit: 2 }]);
  expect(await page('?page=100000')).toEqual([[], { number: 100_000, has_more: false, limit: 50 }]);
});

describe('bad input is 400 and names the field', () => {
  test.for([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'a'.repeat(201) }, 'name'],
    [{ name: 'a\0' }, 'name'],
    [{ name: 'a', sparePartId: randomUUID() }, 'sparePartId'],
  ] as const)('in the body %j', async ([body, field]) => {
    const { body: problem } = await post(service, '/spare-parts', body).expect(400);
    expect(problem.code).toBe('validation_failed');
    expect(problem.errors).toEqual({ [field]: [expect.any(String)] });
  });

  test('in the query', async () => {
    const { body } = await get(service, '/spare-parts?page=0&limit=201&sort=name').expect(400);
    expect(Object.keys(body.errors).toSorted()).toEqual(['limit', 'page', 'sort']);
  });

  test('in the path', async () => {
    expect((await get(service, '/spare-parts/1').expect(400)).body.errors).toEqual({
      sparePartId: ['must be a UUID'],
    });
    expect((await get(service, `/spare-parts/${randomUUID()}`).expect(404)).body.code).toBe('not_found');
  });
});

describe('a caller without the scope is refused', () => {
  const calls = [
    ['get', '/spare-parts', 'read'],
    ['get', `/spare-parts/${randomUUID()}`, 'read'],
    ['post', '/spare-parts', 'write'],
    ['patch', `/spare-parts/${randomUUID()}`, 'write'],
    ['delete', `/spare-parts/${randomUUID()}`, 'write'],
  ] as const;
  test.for(calls)('%s %s needs a token with the scope to %s', async ([verb, path, scope]) => {
    const call = () => supertest(service.app)[verb](`/v1${path}`);
    expect((await call().expect(401)).headers['www-authenticate']).toMatch(/^Bearer/);
    const other = await tokenWith(scope === 'read' ? 'quests:read' : 'placeholder-service:read');
    const { body } = await call().auth(other, { type: 'bearer' }).expect(403);
    expect(body.detail).toContain(`placeholder-service:${scope}`);
  });
});
