import { randomUUID } from 'node:crypto';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeQuest } from '../src/quests/use-cases.ts';
import { get, makeQuest, question, startService, tokenWith, write } from './harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('a quest is created, read, renamed and deleted', async () => {
  const made = await write(service, 'post', '/quests', { title: 'Häuser 🏠' }).expect(201);
  const { questId } = made.body;
  const path = `/quests/${questId}`;
  expect(made.headers['location']).toBe(`/v1${path}`);
  expect(made.body).toEqual({
    questId: expect.any(String),
    title: 'Häuser 🏠',
    titles: [],
    published: true,
    version: JSON.parse(String(made.headers['etag'])),
    questionCount: 0,
    createdAt: instant,
    updatedAt: instant,
  });
  const read = await get(service, path).expect(200);
  expect(read.body).toEqual(made.body);
  expect(read.headers['etag']).toBe(made.headers['etag']);
  await get(service, path).set('If-None-Match', String(read.headers['etag'])).expect(304);
  const renamed = await write(service, 'patch', path, { title: 'Gardens' }).expect(200);
  expect(renamed.body).toMatchObject({ questId, title: 'Gardens' });
  expect(renamed.headers['etag']).not.toBe(made.headers['etag']);
  await write(service, 'delete', path).expect(204);
  await get(service, path).expect(404);
  await get(service, `${path}/questions`).expect(404);
  await write(service, 'delete', path).expect(404);
});

test('quests are listed newest first, in pages', async () => {
  await using own = await startService();
  for (const title of ['a', 'b', 'c']) await write(own, 'post', '/quests', { title }).expect(201);
  const titles = async (query: string) =>
    (await get(own, `/quests${query}`).expect(200)).body.map(({ title }: { title: string }) => title);
  expect(await titles('')).toEqual(['c', 'b', 'a']);
  expect(await titles('?skip=1&take=1')).toEqual(['b']);
  expect(await titles('?Skip=2147483647')).toEqual([]);
  expect((await get(own, '/quests?Take=1001&limit=1').expect(400)).body.errors).toEqual({
    Take: [expect.any(String)],
    limit: [expect.any(String)],
  });
});

describe('writing needs quests:write', () => {
  const calls = [
    ['post', '/quests'],
    ['patch', `/quests/${randomUUID()}`],
    ['delete', `/quests/${randomUUID()}`],
    ['put', `/quests/${randomUUID()}/questions`],
    ['post', `/quests/${randomUUID()}/questions`],
    ['put', `/quests/${randomUUID()}/questions/q1`],
    ['delete', `/quests/${randomUUID()}/questions/q1`],
    ['post', `/quests/${randomUUID()}/publish`],
    ['delete', `/quests/${randomUUID()}/draft`],
    ['put', `/quests/${randomUUID()}/export`],
  ] as const;
  test.for(calls)('%s %s', async ([verb, path]) => {
    const call = () => supertest(service.app)[verb](`/v1${path}`).send({ title: 'x' });
    const none = await call().expect(401);
    expect(none.headers['www-authenticate']).toMatch(/^Bearer/);
    const reader = await call()
      .auth(await tokenWith('quests:read'), { type: 'bearer' })
      .expect(403);
    expect(reader.body.detail).toContain('quests:write');
    await call().auth('junk', { type: 'bearer' }).expect(401);
  });
});

describe('an invalid body of a quest is 400 and the field is named', () => {
  test.for([
    [{}, 'title'],
    [{ title: '' }, 'title'],
    [{ title: 7 }, 'title'],
    [{ title: null }, 'title'],
    [{ title: 'x'.repeat(501) }, 'title'],
    [{ title: 'a\0b' }, 'title'],
    [{ title: '\ud800' }, 'title'],
    [{ title: 'a', titles: 'b' }, 'titles'],
    [{ title: 'a', titles: [{ languageCode: 'en', title: 'b' }] }, 'titles.0.languageCode'],
    [{ title: 'a', titles: [{ languageCode: 'en-US', title: 'a\0b' }] }, 'titles.0.title'],
    [{ title: 'a', published: true }, 'published'],
    [{ title: 'a', questId: randomUUID() }, 'questId'],
    [{ title: 'a', version: randomUUID() }, 'version'],
    [[], 'body'],
  ] as const)('%j', async ([body, name]) => {
    const made = await write(service, 'post', '/quests', body).expect(400);
    expect(Object.keys(made.body.errors)).toEqual([name]);
    if (Object.keys(body).length === 0 && !Array.isArray(body)) return;
    const questId = await makeQuest(service);
    await write(service, 'patch', `/quests/${questId}`, body).expect(400);
  });

  test.for([
    ['{"title":"a","__proto__":{"x":1}}', 'validation_failed'],
    ['null', 'validation_failed'],
    ['{"title":', 'malformed_json'],
    [`${'['.repeat(15_000)}${']'.repeat(15_000)}`, 'too_deep'],
  ])('%s', async ([body = '', code]) => {
    const answer = await write(service, 'post', '/quests').type('json').send(body).expect(400);
    expect(answer.body.code).toBe(code);
  });

  test('another media type is 415, a body that is too large is 413', async () => {
    await write(service, 'post', '/quests').type('text/plain').send('{"title":"a"}').expect(415);
    const long = { title: 'x'.repeat(100_001) };
    const { body } = await write(service, 'post', '/quests', long).expect(413);
    expect(body.code).toBe('too_large');
  });
});

describe('If-Match', () => {
  test('admits a write only while the quest has that version', async () => {
    const questId = await makeQuest(service, ['a']);
    const { headers } = await get(service, `/quests/${questId}/questions`);
    const etag = String(headers['etag']);
    const path = `/quests/${questId}/questions`;
    await write(service, 'post', path, question('b')).set('If-Match', `W/${etag}`).expect(201);
    for (const [verb, at, body] of [
      ['post', path, question('c')],
      ['put', path, []],
      ['patch', `/quests/${questId}`, { title: 'lost' }],
      ['delete', `/quests/${questId}`, undefined],
    ] as const) {
      const late = await write(service, verb, at, body).set('If-Match', etag).expect(412);
      expect(late.body.code).toBe('stale');
    }
    expect((await get(service, `/quests/${questId}`)).body).toMatchObject({
      title: 'A quest',
      questionCount: 2,
    });
    await write(service, 'delete', `/quests/${questId}`).set('If-Match', '*').expect(204);
  });

  test('that cannot be parsed is refused by name and changes nothing', async () => {
    const questId = await makeQuest(service);
    const answer = await write(service, 'delete', `/quests/${questId}`)
      .set('If-Match', 'nonsense')
      .expect(400);
    expect(answer.body).toMatchObject({ errors: { 'If-Match': [expect.any(String)] } });
    await get(service, `/quests/${questId}`).expect(200);
  });
});

test('a patch without a change changes nothing, version and time included', async () => {
  const made = await write(service, 'post', '/quests', { title: 'Gardens' }).expect(201);
  for (const patch of [{}, { title: 'Gardens' }]) {
    const { body, headers } = await write(service, 'patch', `/quests/${made.body.questId}`, patch)
      .set('Content-Type', 'application/merge-patch+json')
      .expect(200);
    expect([body, headers['etag']]).toEqual([made.body, made.headers['etag']]);
  }
});

test('an Idempotency-Key creates one quest, and one question, of many requests', async () => {
  const send = (path: string, body: object) =>
    write(service, 'post', path, body).set('Idempotency-Key', `once ${path}`);
  const quests = await Promise.all(Array.from({ length: 4 }, () => send('/quests', { title: 'Once' })));
  expect(new Set(quests.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  const questId = String(quests[0]?.body.questId);
  const list = `/quests/${questId}/questions`;
  const answers = [];
  for (let n = 0; n < 3; n++) answers.push(await send(list, question('Once?')).expect(201));
  expect(new Set(answers.map(({ text, headers }) => `${text} ${headers['etag']}`)).size).toBe(1);
  expect((await get(service, `/quests/${questId}`)).body.questionCount).toBe(1);
  const other = await send(list, question('Twice?')).expect(422);
  expect(other.body.code).toBe('idempotency_key_reused');
});

test('a known path with another method is 405 with Allow', async () => {
  const questId = randomUUID();
  const answer = await write(service, 'delete', `/quests/${questId}/questions`).expect(405);
  expect(answer.headers['allow']).toBe('GET, HEAD, PUT, POST');
  const one = await write(service, 'patch', `/quests/${questId}/questions/q1`).expect(405);
  expect(one.headers['allow']).toBe('GET, HEAD, PUT, DELETE');
});

test('changes of one quest, however many a caller sends, leave connections to other requests', async () => {
  const questId = await makeQuest(service, ['Ready?']);
  const target = { questId, caller: 'ann', expected: undefined };
  const end = Promise.withResolvers<{ result: string }>();
  const changes = Array.from({ length: 20 }, () => changeQuest(service.context, target, () => end.promise));
  await get(service, `/quests/${questId}`).expect(200);
  end.resolve({ result: 'done' });
  expect((await Promise.all(changes)).map(({ result }) => result)).toEqual(Array(20).fill('done'));
});
