import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { get, getDraft, makeQuest, question, startService, titlesOf, write } from './harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const titles = [
  { languageCode: 'en-US', title: 'Lunch' },
  { languageCode: 'de-DE', title: 'Mittagessen' },
];

const file = (...questions: string[]) => ({
  title: 'Lunch',
  titles,
  questions: questions.map((questionId) => question(questionId, { questionId })),
});

const put = (questId: string, body: object, query = '') =>
  write(service, 'put', `/quests/${questId}/export${query}`, body);
const exported = (questId: string, query = '') => getDraft(service, `/quests/${questId}/export${query}`);

test('a quest is exported as indented JSON without order numbers, and importing it changes only the version', async () => {
  const questId = await makeQuest(service);
  await put(questId, file('one', 'two')).expect(204);
  const first = await exported(questId).expect(200);
  expect(first.text).toBe(`${JSON.stringify(first.body, null, 2)}\n`);
  expect(first.text).not.toContain('orderNumber');
  expect(first.body).toMatchObject(file('one', 'two'));
  const list = await get(service, `/quests/${questId}/questions`).expect(200);
  const { headers } = await put(questId, first.body).expect(204);
  const second = await exported(questId).expect(200);
  expect(second.text).toBe(first.text);
  expect([second.headers['etag'], first.headers['etag']]).toEqual([
    headers['etag'],
    expect.not.stringMatching(String(headers['etag'])),
  ]);
  expect((await get(service, `/quests/${questId}/questions`).expect(200)).body).toEqual(list.body);
  await exported(questId).set('If-None-Match', String(headers['etag'])).expect(304);
});

test('a large list or file counts as one request for each started 10 kB, also an export that is refused', async () => {
  await using limited = await startService({ variables: { RATE_LIMIT: 'on' } });
  const remaining = ({ headers }: { headers: Record<string, string> }) =>
    Number(/r=(\d+)/.exec(headers['ratelimit'] ?? '')?.[1]);
  const questId = await makeQuest(limited);
  const alternatives = Array.from({ length: 100 }, () => ({ titles }));
  const questions = Array.from({ length: 60 }, () => question('a', { titles, alternatives }));
  const sent = { title: 'Lunch', titles, questions };
  const stored = await write(limited, 'put', `/quests/${questId}/export`, sent).expect(204);
  const size = Buffer.byteLength(JSON.stringify(sent));
  expect(11_999 - remaining(stored)).toBeGreaterThan(size / 10_000);
  const list = await write(limited, 'put', `/quests/${questId}/questions`, questions).expect(200);
  expect(remaining(stored) - remaining(list)).toBeGreaterThan(size / 10_000);
  const large = Array.from({ length: 110 }, () => question('a', { titles, alternatives }));
  await write(limited, 'put', `/quests/${questId}/questions`, large).expect(200);
  const refused = await getDraft(limited, `/quests/${questId}/export`).expect(409);
  expect(refused.body.code).toBe('quest_too_large');
  expect(11_999 - remaining(refused)).toBeGreaterThan(100);
});

test('a file can be imported as a draft, exported, and published with its titles', async () => {
  const questId = await makeQuest(service, ['old']);
  const { headers } = await put(questId, file('new'), '?draft=true').expect(204);
  expect(await titlesOf(service, questId)).toEqual(['old']);
  expect((await get(service, `/quests/${questId}`)).body).toMatchObject({ title: 'A quest', titles: [] });
  const draft = await exported(questId, '?draft=true').expect(200);
  expect(draft.body).toMatchObject(file('new'));
  expect(draft.headers['etag']).toBe(headers['etag']);
  expect((await exported(questId).expect(200)).body).toMatchObject({ title: 'A quest' });
  const { body } = await write(service, 'post', `/quests/${questId}/publish`).expect(409);
  expect(Object.keys(body.errors)).toContain('questions.0.titles');
  await put(questId, { ...file('new'), titles: titles.slice(0, 1) }, '?draft=true').expect(204);
  const published = await write(service, 'post', `/quests/${questId}/publish`).expect(200);
  expect(published.body).toMatchObject({ title: 'Lunch', titles: titles.slice(0, 1), questionCount: 1 });
  expect(await titlesOf(service, questId)).toEqual(['new']);
  await exported(questId, '?draft=true').expect(404);
});

test('a quest is exported only for callers with quests:read, and an unknown quest is 404', async () => {
  const questId = await makeQuest(service, ['a']);
  await get(service, `/quests/${questId}/export`).expect(401);
  await exported(randomUUID()).expect(404);
  await put(randomUUID(), file('a')).expect(404);
  await exported(questId).expect(200);
});

test('an import is refused if the version is not that of If-Match', async () => {
  const questId = await makeQuest(service, ['a']);
  const { headers } = await exported(questId).expect(200);
  await put(questId, file('b')).set('If-Match', '"other"').expect(412);
  await put(questId, file('b')).set('If-Match', String(headers['etag'])).expect(204);
  expect(await titlesOf(service, questId)).toEqual(['b']);
});

describe('an invalid file is 400, the field is named, and nothing changes', () => {
  const one = question('a');
  test.for([
    [{}, ['title', 'questions']],
    [[], ['body']],
    [{ ...file(), title: 'a\0b' }, ['title']],
    [{ ...file(), titles: null }, ['titles']],
    [{ ...file(), titles: [titles[0], titles[0]] }, ['titles.1.languageCode']],
    [{ ...file(), draft: true }, ['draft']],
    [{ ...file(), questions: 'a' }, ['questions']],
    [{ ...file(), questions: [one, { ...one, type: 'X' }] }, ['questions.1.type']],
    [{ ...file(), questions: [question('a\0b')] }, ['questions.0.titles.0.title']],
    [file('same', 'same'), ['questions.1.questionId']],
    [{ ...file(), questions: [{ ...one, orderNumber: 3 }] }, ['questions.0.orderNumber']],
  ] as const)('%j', async ([body, names]) => {
    const questId = await makeQuest(service, ['old']);
    const answer = await put(questId, body).expect(400);
    expect(Object.keys(answer.body.errors)).toEqual(names);
    expect(await titlesOf(service, questId)).toEqual(['old']);
  });

  test('no body, no JSON and another type', async () => {
    const questId = await makeQuest(service, ['old']);
    const call = () => write(service, 'put', `/quests/${questId}/export`);
    expect((await call().expect(400)).body.code).toBe('malformed_json');
    expect((await call().type('json').send('{"title":').expect(400)).body.code).toBe('malformed_json');
    await call().type('text/plain').send('{}').expect(415);
    await put(questId, file('a'), '?draft=maybe').expect(400);
  });
});

test('a file above 2 MiB is neither imported nor exported', async () => {
  const questId = await makeQuest(service);
  const long = Array.from({ length: 1100 }, () => question('x'.repeat(2000)));
  await put(questId, { title: 'a', questions: long }).expect(413);
  await write(service, 'put', `/quests/${questId}/questions`, long).expect(200);
  expect((await exported(questId).expect(409)).body.code).toBe('quest_too_large');
});

test('a small quest is exported, and a large one returns 304, without waiting for memory', async () => {
  const [small, large] = [await makeQuest(service), await makeQuest(service)];
  const long = Array.from({ length: 100 }, () => question('x'.repeat(2000)));
  await write(service, 'put', `/quests/${large}/questions`, long).expect(200);
  const { headers } = await exported(large).expect(200);
  const [isFull, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const work = service.context.largeWork.run(96 * 2 ** 20, async () => {
    isFull.resolve();
    await end.promise;
  });
  await isFull.promise;
  await exported(small).expect(200);
  await exported(large).set('If-None-Match', String(headers['etag'])).expect(304);
  end.resolve();
  await work;
});
