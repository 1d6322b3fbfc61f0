import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectInput, startService, type Service } from '../../test/harness.ts';
import { ProjectDetails, ProjectList } from './schema.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const noDeliverables = { pending: 0, in_progress: 0, delivered: 0, accepted: 0, rejected: 0 };

const create = async (changes: object = {}) => {
  const { body } = await service.admin.post('/projects', projectInput(changes)).expect(201);
  return body as { id: string; updated_at: string };
};

describe('a project', () => {
  test('is created, listed, changed and deleted', async () => {
    const made = await service.admin
      .post('/projects', projectInput({ source_language: 'EN-us' }))
      .expect(201);
    const { id } = made.body as { id: string };
    expect(made.headers['location']).toBe(`/v1/projects/${id}`);
    expect((await service.admin.get(`/projects/${id}`).expect(200)).body).toEqual(made.body);
    expect(ProjectDetails.strict().parse(made.body)).toEqual(made.body);
    expect(made.body).toEqual({
      id,
      name: 'Degrees of 2025',
      client: null,
      status: 'draft',
      source_language: 'en-US',
      target_languages: ['de', 'fr'],
      due_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: made.body.created_at,
      version: 1,
      deliverables_by_status: noDeliverables,
    });

    const listed = await service
      .read('/projects')
      .expect(200)
      .expect('Content-Type', /^application\/json/);
    const { deliverables_by_status: _counts, ...shown } = made.body as Record<string, unknown>;
    expect(listed.body).toEqual({ projects: [shown], page: { number: 1, has_more: false, limit: 50 } });
    expect(ProjectList.strict().parse(listed.body)).toEqual(listed.body);

    const changed = await service.admin
      .patch(`/projects/${id}`, {
        status: 'in_review',
        target_languages: [],
        client: 'Anna',
        due_at: '2026-09-01',
      })
      .expect(200);
    expect(changed.body).toEqual({
      ...made.body,
      status: 'in_review',
      target_languages: [],
      client: 'Anna',
      due_at: '2026-09-01T00:00:00.000Z',
      updated_at: expect.any(String),
      version: 2,
    });
    expect(changed.body.updated_at >= made.body.updated_at).toBe(true);

    await service.admin.delete(`/projects/${id}?force=true`).expect(204);
    await service.admin.delete(`/projects/${id}?force=true`).expect(404);
    await service.admin.get(`/projects/${id}`).expect(404);
    await service.admin.patch(`/projects/${id}`, { name: 'gone' }).expect(404);
    expect((await service.read('/projects')).body.projects).toEqual([]);
  });

  test('stores every character of its name', async () => {
    const name = `"'\\\u2028<b>${'😀'.repeat(20)}\t\n`;
    const { id } = await create({ name });
    const { body } = await service.read('/projects').expect(200);
    expect(body.projects[0].name).toBe(name);
    await service.admin.delete(`/projects/${id}?force=true`).expect(204);
  });

  test.for([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(201) }],
    ['name', { name: 'a\0b' }],
    ['client', { client: '' }],
    ['client', { client: 'x'.repeat(201) }],
    ['client', { client: 'a\0b' }],
    ['client', { client: ['Anna'] }],
    ['due_at', { due_at: 'tomorrow' }],
    ['version', { version: 7 }],
    ['deliverables_by_status', { deliverables_by_status: {} }],
    ['status', { status: 'done' }],
    ['source_language', { source_language: 'english please' }],
    ['source_language', { source_language: 'e' }],
    ['target_languages.1', { target_languages: ['de', '-'] }],
    ['target_languages', { target_languages: ['de', 'DE'] }],
    ['target_languages', { target_languages: Array.from({ length: 201 }, (_, n) => `de-x-${n}`) }],
    ['updated_at', { updated_at: '2026-01-01T00:00:00.000Z' }],
    ['id', { id: '0198c5a0-7e57-7000-8000-000000000001' }],
  ] as const)('is refused for its %s (%j)', async ([field, changes]) => {
    const { body } = await service.admin.post('/projects', projectInput(changes)).expect(400);
    expect(body).toMatchObject({ code: 'validation_failed', detail: expect.stringContaining(field) });
    expect(Object.keys(body.errors)).toEqual([field]);
  });

  test('returns 400 for missing fields', async () => {
    const { body } = await service.admin.post('/projects', {}).expect(400);
    expect(Object.keys(body.errors)).toEqual(['name', 'source_language', 'target_languages']);
    const { id } = await create();
    await service.admin.delete(`/projects/${id}?force=true`).expect(204);
    await service.admin.delete('/projects/nonsense').expect(400);
  });
});

describe('the list', () => {
  const names = (body: { projects: { name: string }[] }) => body.projects.map(({ name }) => name);

  test('is ordered by the last change, and pages say whether more follow', async () => {
    const made = [];
    for (let n = 0; n < 5; n++)
      made.push(await create({ name: `p${n}`, status: n % 2 ? 'active' : 'draft' }));
    await service.admin.patch(`/projects/${made[1]?.id}`, { name: 'p1 again' }).expect(200);

    const first = await service.read('/projects?limit=3').expect(200);
    expect(names(first.body)).toEqual(['p0', 'p2', 'p3']);
    expect(first.body.page).toEqual({ number: 1, has_more: true, limit: 3 });
    const second = await service.read('/projects?page=2&limit=3').expect(200);
    expect(names(second.body)).toEqual(['p4', 'p1 again']);
    expect(second.body.page).toEqual({ number: 2, has_more: false, limit: 3 });
    const exact = await service.read('/projects?limit=5').expect(200);
    expect(exact.body.page.has_more).toBe(false);

    const active = await service.read('/projects?status=active&limit=1').expect(200);
    expect(names(active.body)).toEqual(['p3']);
    expect(active.body.page.has_more).toBe(true);
    expect(names((await service.read('/projects?status=active&limit=1&page=2')).body)).toEqual(['p1 again']);

    const since = made[3]?.updated_at ?? '';
    expect(names((await service.read(`/projects?modified_after=${since}`)).body)).toContain('p3');
    const both = await service.read(`/projects?status=draft&modified_after=${since}`).expect(200);
    expect(names(both.body)).toEqual(['p4']);
  });

  test('is empty past its end, up to the last page number', async () => {
    const { body } = await service.read('/projects?page=100000&limit=200').expect(200);
    expect(body).toEqual({ projects: [], page: { number: 100_000, has_more: false, limit: 200 } });
  });

  test.for([
    ['cursor', 'cursor=abc'],
    ['sort', 'sort=name'],
    ['search', 'search=x'],
    ['page_size', 'page_size=10'],
    ['page[]', 'page[]=1'],
    ['page[]', 'page%5B%5D=1'],
    ['Page', 'Page=1'],
    ['api_key', 'api_key=vk_live_x'],
    ['__proto__', '__proto__=1'],
    ['page', 'page=1&page=1'],
    ['status', 'status=draft&status=active'],
    ['page', 'page=0'],
    ['page', 'page=100001'],
    ['page', 'page=1.5'],
    ['page', 'page=01'],
    ['page', 'page=-1'],
    ['page', 'page='],
    ['page', 'page'],
    ['page', 'page=1%00'],
    ['limit', 'limit=0'],
    ['limit', 'limit=201'],
    ['limit', 'limit=1e2'],
    ['status', 'status='],
    ['status', 'status=Draft'],
    ['status', 'status=draft,active'],
    ['status', 'status=draft%00'],
    ['modified_after', 'modified_after='],
    ['modified_after', 'modified_after=yesterday'],
    ['modified_after', 'modified_after=2026-01-01T12:00:00 02:00'],
    ['modified_after', 'modified_after=2026-01-01T12:00:00+02:00'],
  ])('refuses %s by name: ?%s', async ([name, query]) => {
    const { body, headers } = await service.read(`/projects?${query}`).expect(400);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
    expect(Object.keys(body.errors)).toEqual([name]);
    expect(body.detail).toContain(`${name}: `);
  });

  test('names all errors at once', async () => {
    const { body } = await service.read('/projects?page=0&limit=x&sort=a').expect(400);
    expect(Object.keys(body.errors).toSorted()).toEqual(['limit', 'page', 'sort']);
  });
});
