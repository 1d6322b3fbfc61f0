import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { get, listed, makeQuest, startService, titlesOf, tokenWith, write } from './harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
let questId: string;
const letters = [...'abcdefghij'];

beforeAll(async () => {
  service = await startService();
  questId = await makeQuest(service, letters);
});
afterAll(() => service[Symbol.asyncDispose]());

const list = (query: string) => get(service, `/quests/${questId}/questions${query}`);

test('a question has exactly the fields of the interface', async () => {
  const [first] = await listed(service, questId, '?Take=1');
  expect(first).toEqual({
    questionId: expect.any(String),
    orderNumber: 0,
    type: 'SINGLE_CHOICE',
    presentation: 'HORIZONTAL',
    titles: [{ languageCode: 'en-US', title: 'a' }],
    alternatives: [
      {
        alternativeId: expect.any(String),
        type: 'DEFAULT',
        orderNumber: 0,
        titles: [{ languageCode: 'en-US', title: 'Yes' }],
      },
    ],
  });
});

test.for([
  ['', letters],
  ['?Skip=3&Take=2', ['d', 'e']],
  ['?skip=3&TAKE=2', ['d', 'e']],
  ['?Skip=-0&Take=1', ['a']],
  ['?Take=0', []],
  ['?Take=-0', []],
  ['?Skip=10', []],
  ['?Skip=2147483647&Take=1000', []],
  ['?Skip=8&Take=1000', ['i', 'j']],
] as const)('the page %s', async ([query, expected]) => {
  const answer = await list(query).expect(200).expect('Content-Type', 'application/json; charset=utf-8');
  expect(answer.body.map(({ titles }: { titles: [{ title: string }] }) => titles[0].title)).toEqual(expected);
});

test('without Take, 100 questions are returned', async () => {
  const long = await makeQuest(
    service,
    Array.from({ length: 130 }, (_, n) => `question ${n}`),
  );
  expect(await listed(service, long)).toHaveLength(100);
  expect(await titlesOf(service, long, '?Skip=129')).toEqual(['question 129']);
});

describe('an invalid parameter is 400 and named', () => {
  const values = [
    '-1',
    '01',
    '+1',
    '%2B1',
    '1.0',
    '%201',
    '1%20',
    '',
    '2147483648',
    '1e2',
    '0x1',
    'NaN',
    '٣',
    '1%00',
    '%ED%A0%80',
    '--1',
    '-01',
    '99999999999999999999',
  ];
  for (const name of ['Skip', 'Take']) {
    test.for(values)(`${name}=%s`, async (value) => {
      const { body } = await list(`?${name.toLowerCase()}=${value}`)
        .expect(400)
        .expect('Content-Type', 'application/problem+json');
      const named = { code: 'validation_failed', errors: { [name]: [expect.any(String)] } };
      expect(body).toMatchObject(value === '%ED%A0%80' ? { code: 'bad_encoding' } : named);
    });
  }
  test.for([
    ['?Take=1001', 'Take'],
    ['?Skip=1&Skip=1', 'Skip'],
    ['?Skip=1&skip=2', 'Skip'],
    ['?Take', 'Take'],
    ['?page=1', 'page'],
    ['?Skip[]=1', 'Skip[]'],
    ['?Take%5B%5D=1', 'Take[]'],
    ['?__proto__=1', '__proto__'],
    ['?Skip=1&x%00=1', 'x\0'],
  ] as const)('%s', async ([query, name]) => {
    const { body } = await list(query).expect(400);
    expect(Object.keys(body.errors)).toEqual([name]);
  });
});

test('two invalid parameters are named at once', async () => {
  const { body } = await list('?Skip=-1&Take=1001').expect(400);
  expect(body.errors).toEqual({ Skip: [expect.any(String)], Take: [expect.any(String)] });
});

test.for(['1', 'x', `${randomUUID()}0`, `{${randomUUID()}}`, '%00', '0198c5a07e5770008000000000000001'])(
  'a quest id that is not a UUID is 400: %s',
  async (id) => {
    const { body } = await get(service, `/quests/${id}/questions`).expect(400);
    expect(body.errors).toEqual({ questId: ['must be a UUID'] });
  },
);

test('broken percent-encoding in the path is 400', async () => {
  const { body } = await get(service, '/quests/%E0%A4%A/questions').expect(400);
  expect(body).toMatchObject({ code: 'bad_request', status: 400 });
});

test('an unknown quest is 404', async () => {
  for (const id of [randomUUID(), '00000000-0000-0000-0000-000000000000']) {
    const { body } = await get(service, `/quests/${id}/questions`).expect(404);
    expect(body).toMatchObject({ code: 'not_found', detail: 'There is no such quest.' });
  }
});

test('a quest id is matched in either case', async () => {
  expect(await titlesOf(service, questId.toUpperCase(), '?Take=1')).toEqual(['a']);
});

describe('a page that the caller already has', () => {
  test('is not sent again while it is current', async () => {
    const { headers } = await list('?Take=2').expect(200).expect('Cache-Control', 'no-cache');
    const etag = String(headers['etag']);
    for (const held of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await list('?Take=2').set('If-None-Match', held).expect(304).expect('ETag', etag);
      expect(answer.text).toBe('');
    }
    await list('?Take=2').set('If-None-Match', '"x"').expect(200);
  });

  test('is sent again after a write', async () => {
    const { headers } = await list('').expect(200);
    await write(service, 'patch', `/quests/${questId}`, { title: 'Another title' }).expect(200);
    const answer = await list('').set('If-None-Match', String(headers['etag'])).expect(200);
    expect(answer.headers['etag']).not.toBe(headers['etag']);
  });

  test('is 404 once the quest is deleted', async () => {
    const gone = await makeQuest(service, ['a']);
    const { headers } = await get(service, `/quests/${gone}/questions`).expect(200);
    await write(service, 'delete', `/quests/${gone}`).expect(204);
    await get(service, `/quests/${gone}/questions`).set('If-None-Match', String(headers['etag'])).expect(404);
  });
});

test('HEAD returns the headers of GET without a body', async () => {
  const answer = await list('').expect(200);
  const head = await supertest(service.app).head(`/v1/quests/${questId}/questions`);
  expect([head.status, head.text, head.headers['content-length']]).toEqual([
    200,
    undefined,
    answer.headers['content-length'],
  ]);
});

describe('with QUESTS_REQUIRE_TOKEN', () => {
  test('reading needs quests:read', async () => {
    await using closed = await startService({ variables: { QUESTS_REQUIRE_TOKEN: 'true' } });
    const id = await makeQuest(closed, ['a']);
    for (const path of ['/quests', `/quests/${id}`, `/quests/${id}/questions`]) {
      const none = await get(closed, path).expect(401);
      expect(none.headers['www-authenticate']).toMatch(/^Bearer/);
      const other = await get(closed, path)
        .auth(await tokenWith('stores:read'), { type: 'bearer' })
        .expect(403);
      expect(other.body.detail).toContain('quests:read');
      await get(closed, path)
        .auth(await tokenWith('quests:read'), { type: 'bearer' })
        .expect(200);
    }
  });
});

test('the committed OpenAPI document names both parameters and the problems of the list', () => {
  const file = new URL('../openapi.json', import.meta.url);
  const { paths } = JSON.parse(readFileSync(file, 'utf8'));
  const operation = paths['/quests/{questId}/questions'].get;
  const names = operation.parameters.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['questId', 'Skip', 'Take', 'If-None-Match']);
  expect(Object.keys(operation.responses)).toEqual(
    expect.arrayContaining(['200', '304', '400', '404', '414', '431']),
  );
});
