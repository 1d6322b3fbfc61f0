import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
let ada: Awaited<ReturnType<typeof register>>;
beforeAll(async () => {
  service = await startService();
  ada = await register(service.app);
});
afterAll(() => service[Symbol.asyncDispose]());

const completeTask = {
  title: 'Überraschung \u{1f389} & <b>"quotes"</b>',
  description: "Line one\nline two\t%_\\ '; drop table tasks; --",
  status: 'in_progress',
  priority: 'urgent',
  dueDate: '2028-02-29',
  tags: ['home', 'Ärger', 'a,b', '{x}', '"q"', ' '],
};

const create = async (body: object = { title: 'Water the plants' }) =>
  (await ada.as('post', '/tasks').send(body)).body as { id: string; version: number };

describe('a task', () => {
  test('is created with its defaults', async () => {
    const { status, body, headers } = await ada.as('post', '/tasks').send({ title: 'Water the plants' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/),
      title: 'Water the plants',
      description: '',
      status: 'todo',
      priority: 'medium',
      dueDate: null,
      tags: [],
      completedAt: null,
      version: 1,
    });
    expect(body.updatedAt).toBe(body.createdAt);
    expect(headers.location).toBe(`/api/v1/tasks/${body.id}`);
    expect(headers.etag).toBe('"1"');
    expect((await ada.as('get', `/tasks/${body.id}`)).body).toEqual(body);
  });

  test('is returned exactly as it was sent', async () => {
    const { body } = await ada.as('post', '/tasks').send(completeTask);
    expect(body).toMatchObject(completeTask);
    expect((await ada.as('get', `/tasks/${body.id}`)).body).toEqual(body);
    const { body: list } = await ada.as('get', '/tasks?limit=1');
    expect(list.tasks).toEqual([body]);
  });

  test('accepts values up to its limits', async () => {
    const largest = {
      title: 'x'.repeat(200),
      description: 'word '.repeat(2000),
      tags: Array.from({ length: 20 }, (_, n) => `${n}`.padEnd(40, 't')),
      dueDate: '9999-12-31',
    };
    expect((await ada.as('post', '/tasks').send(largest)).status).toBe(201);
    const oneWord = { title: 'x', description: 'y'.repeat(10_000), dueDate: '0001-01-01' };
    const { status, body } = await ada.as('post', '/tasks').send(oneWord);
    expect([status, body.dueDate, body.description]).toEqual([201, '0001-01-01', oneWord.description]);
  });

  test('is changed by a patch with either media type', async () => {
    const { id } = await create();
    for (const [type, title] of [
      ['application/json', 'One'],
      ['application/merge-patch+json', 'Two'],
    ] as const) {
      const answer = await ada
        .as('patch', `/tasks/${id}`)
        .set('Content-Type', type)
        .send(JSON.stringify({ title }));
      expect([answer.status, answer.body.title]).toEqual([200, title]);
    }
    const { body, headers } = await ada.as('get', `/tasks/${id}`);
    expect([body.version, headers.etag]).toEqual([3, '"3"']);
  });

  test('keeps every field that a patch does not name', async () => {
    const before = await create(completeTask);
    const { body } = await ada.as('patch', `/tasks/${before.id}`).send({ title: 'Other' });
    expect(body).toEqual({ ...before, title: 'Other', updatedAt: body.updatedAt, version: 2 });
  });

  test.each([
    [completeTask, {}],
    [completeTask, { title: completeTask.title, tags: completeTask.tags, dueDate: completeTask.dueDate }],
    [completeTask, { status: 'in_progress', priority: 'urgent' }],
    [{ title: 'Empty' }, { description: null, dueDate: null, tags: null }],
    [{ title: 'Done', status: 'done' }, { status: 'done' }],
  ])('keeps its version and times when it is %j and the patch changes nothing: %j', async (input, patch) => {
    const before = await create(input);
    const { status, body } = await ada.as('patch', `/tasks/${before.id}`).send(patch);
    expect([status, body]).toEqual([200, before]);
    expect((await ada.as('get', `/tasks/${before.id}`)).body).toEqual(before);
  });

  test('has the time of its completion until it is reopened', async () => {
    const { id } = await create();
    const { body: done } = await ada.as('patch', `/tasks/${id}`).send({ status: 'done' });
    expect(done.completedAt).toBe(done.updatedAt);
    const { body: renamed } = await ada.as('patch', `/tasks/${id}`).send({ title: 'Done', status: 'done' });
    expect(renamed).toMatchObject({ title: 'Done', completedAt: done.completedAt, version: 3 });
    const { body: reopened } = await ada.as('patch', `/tasks/${id}`).send({ status: 'todo' });
    expect(reopened).toMatchObject({ completedAt: null, version: 4 });
  });

  test('accepts null for fields that may be empty', async () => {
    const { id } = await create(completeTask);
    const emptyFields = { description: null, dueDate: null, tags: null };
    const { body } = await ada.as('patch', `/tasks/${id}`).send(emptyFields);
    expect(body).toMatchObject({ description: '', dueDate: null, tags: [], title: completeTask.title });
  });

  test('increases its version for each of many concurrent changes', async () => {
    const { id } = await create();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ada.as('patch', `/tasks/${id}`).send({ title: `Title ${n}` })),
    );
    const versions = answers.map(({ body }) => body.version as number).toSorted((a, b) => a - b);
    expect(versions).toEqual(Array.from({ length: 20 }, (_, n) => n + 2));
  });

  test('can be deleted once', async () => {
    const { id } = await create();
    const first = await ada.as('delete', `/tasks/${id}`);
    const second = await ada.as('delete', `/tasks/${id}`);
    expect([first.status, first.text, second.status, second.type]).toEqual([
      204,
      '',
      404,
      'application/problem+json',
    ]);
    expect((await ada.as('get', `/tasks/${id}`)).status).toBe(404);
    expect((await ada.as('patch', `/tasks/${id}`).send({ title: 'x' })).status).toBe(404);
  });
});

describe('a task of another user', () => {
  test('is not found when reading, changing, deleting or listing', async () => {
    const before = await create({ title: 'Secret', tags: ['secret'] });
    const eve = await register(service.app);
    const answers = [
      await eve.as('get', `/tasks/${before.id}`),
      await eve.as('patch', `/tasks/${before.id}`).send({ title: 'Mine' }),
      await eve.as('patch', `/tasks/${before.id}`).set('If-Match', '"7"').send({}),
      await eve.as('delete', `/tasks/${before.id}`),
      await eve.as('get', '/tasks/01900000-0000-7000-8000-000000000000'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    const bodies = answers.map(({ body }) => ({ ...body, requestId: '' }) as object);
    expect(bodies.every((body) => JSON.stringify(body) === JSON.stringify(bodies[0]))).toBe(true);
    expect((await eve.as('get', '/tasks?q=Secret&tag=secret')).body.tasks).toEqual([]);
    expect((await ada.as('get', `/tasks/${before.id}`)).body).toEqual(before);
  });
});
