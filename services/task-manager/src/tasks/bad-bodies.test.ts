import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
let ada: Awaited<ReturnType<typeof register>>;
let path: string;
beforeAll(async () => {
  service = await startService();
  ada = await register(service.app);
  path = `/tasks/${(await ada.as('post', '/tasks').send({ title: 'Untouched' })).body.id}`;
});
afterAll(() => service[Symbol.asyncDispose]());

const id = '01900000-0000-7000-8000-000000000001';

const invalidFields: [string, unknown][] = [
  ['title', ''],
  ['title', ' \n\t '],
  ['title', 'x'.repeat(201)],
  ['title', 7],
  ['title', null],
  ['title', { toString: 'x' }],
  ['title', 'nul\0'],
  ['title', 'half \ud83d'],
  ['description', 'x'.repeat(10_001)],
  ['description', ['x']],
  ['description', '\0'],
  ['description', `a${'\u0300'.repeat(31)}`],
  ['status', 'open'],
  ['status', 'DONE'],
  ['status', null],
  ['status', '__proto__'],
  ['priority', 'highest'],
  ['priority', 2],
  ['priority', null],
  ['dueDate', '2027-02-29'],
  ['dueDate', '2027-2-1'],
  ['dueDate', '2027-01-01T00:00:00.000Z'],
  ['dueDate', '0000-01-01'],
  ['dueDate', '10000-01-01'],
  ['dueDate', 'infinity'],
  ['dueDate', ''],
  ['dueDate', 1_800_000_000],
  ['tags', 'home'],
  ['tags', Array.from({ length: 21 }, String)],
  ['tags', ['a', 'a']],
  ['tags.1', ['a', '']],
  ['tags.0', ['x'.repeat(41)]],
  ['tags.0', [null]],
  ['tags.0', ['nul\0']],
  ['tags.0', [['a']]],
];

const unknownFields: [string, unknown][] = [
  ['id', id],
  ['userId', id],
  ['user_id', id],
  ['owner', id],
  ['ownerId', id],
  ['version', 7],
  ['createdAt', '2026-01-01T00:00:00.000Z'],
  ['updatedAt', '2026-01-01T00:00:00.000Z'],
  ['completedAt', '2026-01-01T00:00:00.000Z'],
  ['words', 'x'],
  ['constructor', {}],
  ['Title', 'x'],
];

const bodyWith = (field: string, value: unknown) => ({
  title: 'Fine',
  [field.split('.', 1)[0] ?? '']: value,
});

describe.each([
  ['creating', () => ada.as('post', '/tasks')],
  ['patching', () => ada.as('patch', path)],
])('%s', (_verb, request) => {
  test.each([...invalidFields, ...unknownFields])(
    'refuses %s %j and names the field',
    async (field, value) => {
      const { status, type, body } = await request().send(bodyWith(field, value));
      expect([status, type, body.code]).toEqual([400, 'application/problem+json', 'validation_failed']);
      expect(Object.keys(body.errors)).toEqual([field]);
      expect(body.detail).toContain(field);
    },
  );

  test('names all invalid fields at once', async () => {
    const { body } = await request().send({ title: '', status: 'open', owner: id, tags: ['', 'b'] });
    expect(Object.keys(body.errors).toSorted()).toEqual(['owner', 'status', 'tags.0', 'title']);
  });

  test('refuses __proto__ like any other unknown field', async () => {
    const { status, body } = await request()
      .set('Content-Type', 'application/json')
      .send('{"title":"x","__proto__":{"version":9}}');
    expect([status, Object.keys(body.errors)]).toEqual([400, ['__proto__']]);
  });

  test.each(['[]', '[{"title":"x"}]', 'null', '"title"', '7', 'true'])(
    'refuses the body %s',
    async (json) => {
      const { status, body } = await request().set('Content-Type', 'application/json').send(json);
      expect([status, Object.keys(body.errors)]).toEqual([400, ['body']]);
    },
  );

  test('refuses a missing body', async () => {
    expect((await request()).status).toBe(400);
  });

  test.each(['{"title":', '{"title":"x"} {}', "{'title':'x'}", '{"title":"x",}'])(
    'refuses a body that is not JSON: %s',
    async (json) => {
      const { status, body } = await request().set('Content-Type', 'application/json').send(json);
      expect([status, body.code]).toEqual([400, 'malformed_json']);
    },
  );

  test.each([
    ['arrays', '['],
    ['objects', '{"a":'],
    ['tags', '{"title":"x","tags":['],
  ])('refuses 15,000 levels of %s', async (_description, opening) => {
    const { status, type } = await request()
      .set('Content-Type', 'application/json')
      .send(opening.repeat(15_000));
    expect([status === 400 || status === 413, type]).toEqual([true, 'application/problem+json']);
  });

  test('refuses more than 100 kB', async () => {
    const { status, body } = await request().send({ title: 'x', description: 'x'.repeat(100_001) });
    expect([status, body.code]).toEqual([413, 'too_large']);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
  ])('refuses %s', async (type) => {
    const { status, body } = await request().set('Content-Type', type).send('title=x');
    expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
  });
});

test('none of these requests changed anything', async () => {
  const { body } = await ada.as('get', '/tasks');
  expect(body.tasks).toHaveLength(1);
  expect(body.tasks[0]).toMatchObject({ title: 'Untouched', version: 1 });
});

test.each([
  ['not-an-id', 400],
  ['1', 400],
  ['01900000-0000-7000-8000-00000000000g', 400],
  ['%00', 400],
  ['%ff', 400],
  ["' or 1=1 --", 400],
  ['ffffffff-ffff-ffff-ffff-fffffffffff0', 404],
  ['', 404],
])('the path /tasks/%s is %i', async (segment, expected) => {
  const { status, type } = await ada.as('get', `/tasks/${segment}`);
  expect([status, type]).toEqual([expected, 'application/problem+json']);
});

test.each([
  ['put', '/tasks', 'GET, HEAD, POST'],
  ['post', '/auth/check', 'GET, HEAD'],
  ['post', '/auth/logout', 'GET, HEAD'],
  ['get', '/auth/login', 'POST'],
] as const)('%s %s is 405 with the allowed methods', async (method, path, allow) => {
  const { status, headers } = await ada.as(method, path);
  expect([status, headers.allow]).toEqual([405, allow]);
});
