import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readQuestions } from '../src/questions/queries.ts';
import { get, getDraft, makeQuest, question, startService, titlesOf, tokenWith, write } from './harness.ts';
import { redisOf, warmUp } from './warm-up.ts';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** Creates a quest that is a draft; returns its path. */
const makeDraft = async (titles: string[] = [], more: object = {}): Promise<string> => {
  const quest = { title: 'A draft', draft: true, ...more };
  const { body } = await write(service, 'post', '/quests', quest).expect(201);
  const path = `/quests/${body.questId}`;
  const list = titles.map((title) => question(title));
  await write(service, 'put', `${path}/questions`, list).expect(200);
  return path;
};

const makePublished = async (...titles: string[]): Promise<string> =>
  `/quests/${await makeQuest(service, titles)}`;

const idOf = (path: string): string => path.split('/')[2] ?? '';
const publish = (path: string) => write(service, 'post', `${path}/publish`);
const saveDraft = (path: string, ...titles: string[]) =>
  write(
    service,
    'put',
    `${path}/questions?draft=true`,
    titles.map((title) => question(title)),
  );

describe('a quest that is a draft', () => {
  test('is 404 without quests:read, and public as soon as it is published', async () => {
    const path = await makeDraft(['a', 'b']);
    const { body: list } = await getDraft(service, `${path}/questions`).expect(200);
    const paths = [path, `${path}/questions`, `${path}/questions/${list[0].questionId}`];
    const other = await tokenWith('wallet:read');
    for (const hidden of paths) {
      await get(service, hidden).expect(404);
      await get(service, hidden).auth('junk', { type: 'bearer' }).expect(404);
      await get(service, hidden).auth(other, { type: 'bearer' }).expect(404);
      const shown = await getDraft(service, hidden).expect(200);
      expect(shown.headers['cache-control']).toContain('private');
    }
    const listOf = async (call: typeof get) =>
      (await call(service, '/quests?Take=1000').expect(200)).body.map(
        ({ questId }: { questId: string }) => questId,
      );
    expect(await listOf(get)).not.toContain(idOf(path));
    expect(await listOf(getDraft)).toContain(idOf(path));

    const { body } = await publish(path).expect(200);
    expect(body).toMatchObject({ questId: idOf(path), published: true, questionCount: 2 });
    for (const public_ of paths) await get(service, public_).expect(200);
    expect(await listOf(get)).toContain(idOf(path));
    expect(await titlesOf(service, idOf(path))).toEqual(['a', 'b']);
  });

  test('is never in the cache, not even with readers who may see it', async () => {
    await warmUp(service, await makeQuest(service, ['published']));
    const path = await makeDraft(['a']);
    for (let read = 0; read < 3; read++) {
      const { headers } = await getDraft(service, `${path}/questions`).expect(200);
      const version = String(headers['etag']);
      await get(service, `${path}/questions`).set('If-None-Match', version).expect(404);
    }
    const stored = await redisOf(service).get(`quest-service:version:${idOf(path)}`);
    expect(stored ?? 'filling:').toMatch(/^filling:/);
  });

  test('is read and hidden in the same way without the page cache', async () => {
    await using own = await startService({ variables: { QUESTS_CACHE_BYTES: '0' } });
    const { body } = await write(own, 'post', '/quests', { title: 'a', draft: true }).expect(201);
    await get(own, `/quests/${body.questId}/questions`).expect(404);
    await getDraft(own, `/quests/${body.questId}/questions`).expect(200);
  });

  test('is edited question by question, and its draft is the quest itself', async () => {
    const path = await makeDraft(['a']);
    await write(service, 'post', `${path}/questions`, question('b')).expect(201);
    await saveDraft(path, 'c', 'd').expect(200);
    const { body } = await getDraft(service, `${path}/questions`).expect(200);
    expect(body).toHaveLength(2);
    await write(service, 'delete', `${path}/draft`).expect(404);
    await get(service, `${path}/questions`).expect(404);
  });
});

describe('the draft of a published quest', () => {
  test('is seen by nobody until it is published, keeps the version of the quest, and replaces it as a whole', async () => {
    const path = await makePublished('old 1', 'old 2');
    const before = await get(service, `${path}/questions`).expect(200);
    const saved = await saveDraft(path, 'new').expect(200);
    expect(saved.headers['etag']).not.toBe(before.headers['etag']);
    const after = await getDraft(service, `${path}/questions`).expect(200);
    expect([after.headers['etag'], after.body]).toEqual([before.headers['etag'], before.body]);
    const all = await getDraft(service, '/quests?Take=1000').expect(200);
    expect(all.body.filter(({ published }: { published: boolean }) => !published)).not.toContainEqual(
      expect.objectContaining({ title: 'A quest' }),
    );

    const { body, headers } = await publish(path).expect(200);
    expect(body).toMatchObject({ questionCount: 1, published: true, questId: idOf(path) });
    expect(headers['etag']).not.toBe(before.headers['etag']);
    expect(await titlesOf(service, idOf(path))).toEqual(['new']);
    await write(service, 'delete', `${path}/draft`).expect(404);
  });

  test('can be deleted, and a later draft starts from the quest', async () => {
    const path = await makePublished('old');
    await saveDraft(path, 'thrown away').expect(200);
    await write(service, 'delete', `${path}/draft`).expect(204);
    await write(service, 'delete', `${path}/draft`).expect(404);
    await publish(path).expect(200);
    expect(await titlesOf(service, idOf(path))).toEqual(['old']);
    await saveDraft(path, 'new').expect(200);
    await publish(path).expect(200);
    expect(await titlesOf(service, idOf(path))).toEqual(['new']);
  });

  test('cannot undo a later change of the quest', async () => {
    const path = await makePublished('old');
    await saveDraft(path, 'new').expect(200);
    await write(service, 'put', `${path}/questions`, [question('a correction')]).expect(200);
    for (const call of [publish(path), saveDraft(path, 'newer')])
      expect((await call.expect(409)).body.code).toBe('draft_outdated');
    expect(await titlesOf(service, idOf(path))).toEqual(['a correction']);
    await write(service, 'delete', `${path}/draft`).expect(204);
    await saveDraft(path, 'new').expect(200);
    await publish(path).expect(200);
  });

  test('is changed, published and deleted only in the version of If-Match', async () => {
    const path = await makePublished('old');
    const base = String((await get(service, `${path}/questions`)).headers['etag']);
    await saveDraft(path, 'one').set('If-Match', '"other"').expect(412);
    const { headers } = await saveDraft(path, 'one').set('If-Match', base).expect(200);
    const etag = String(headers['etag']);
    for (const call of [saveDraft(path, 'two'), publish(path), write(service, 'delete', `${path}/draft`)])
      expect((await call.set('If-Match', base).expect(412)).body.code).toBe('stale');
    const second = await saveDraft(path, 'two').set('If-Match', etag).expect(200);
    await publish(path).set('If-Match', String(second.headers['etag'])).expect(200);
    expect(await titlesOf(service, idOf(path))).toEqual(['two']);
  });

  test('is deleted with its quest', async () => {
    const path = await makePublished('old');
    await saveDraft(path, 'new').expect(200);
    await write(service, 'delete', path).expect(204);
    const rows = await service.context.database.sql`select 1 from quests where draft_of = ${idOf(path)}`;
    expect(rows).toHaveLength(0);
    await publish(path).expect(404);
    await saveDraft(path, 'new').expect(404);
  });

  test('has no address of its own', async () => {
    const path = await makePublished('old');
    await saveDraft(path, 'new').expect(200);
    const [row] = await service.context.database.sql<{ id: string }[]>`
      select quest_id as id from quests where draft_of = ${idOf(path)}`;
    const own = `/quests/${row?.id}`;
    await getDraft(service, own).expect(404);
    await getDraft(service, `${own}/export`).expect(404);
    await write(service, 'patch', own, { title: 'x' }).expect(404);
    await write(service, 'put', `${own}/questions`, []).expect(404);
    await publish(own).expect(404);
    await write(service, 'delete', own).expect(404);
  });

  test('and its quest are unchanged if publishing fails', async () => {
    const path = await makePublished('old');
    await saveDraft(path, 'new').expect(200);
    const before = await get(service, `${path}/questions`).expect(200);
    const owner = postgres(service.databaseUrl, { max: 1 });
    onTestFinished(() => owner.end());
    // The last statement of publishing fails.
    await owner.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse before update of published on quests for each row execute function refuse()`);
    await publish(path).expect(500);
    await owner.unsafe('drop trigger refuse on quests; drop function refuse()');
    const after = await get(service, `${path}/questions`).expect(200);
    expect([after.headers['etag'], after.body]).toEqual([before.headers['etag'], before.body]);
    await publish(path).expect(200);
    expect(await titlesOf(service, idOf(path))).toEqual(['new']);
  });

  test('of fifty concurrent writers and publishers is published as one of them wrote it', async () => {
    const path = await makePublished('old');
    const calls = Array.from({ length: 50 }, (_, n) =>
      n % 5 === 4 ? publish(path) : saveDraft(path, `${n}`, `${n}`),
    );
    const statuses = await Promise.all(calls.map((call) => call.then(({ status }) => status)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    await publish(path).expect(200);
    const [first, second] = await titlesOf(service, idOf(path));
    expect([first, second]).toEqual([first, first]);
    expect(first).not.toBe('old');
  });
});

test('while drafts are written, readers get the published questions from the cache, and the new ones after publishing', async () => {
  const path = await makePublished('0');
  const questId = idOf(path);
  await warmUp(service, questId);
  using invalidate = vi.spyOn(service.context.versions, 'invalidate');
  for (let round = 1; round <= 20; round++) {
    invalidate.mockClear();
    await saveDraft(path, String(round)).expect(200);
    expect(invalidate).not.toHaveBeenCalled();
    expect(await titlesOf(service, questId)).toEqual([String(round - 1)]);
    await publish(path).expect(200);
    expect(await titlesOf(service, questId)).toEqual([String(round)]);
  }
});

describe('publishing', () => {
  const titles = (...languages: string[]) =>
    languages.map((languageCode) => ({ languageCode, title: 'A title' }));
  const both = titles('en-US', 'de-DE');
  const alternatives = (count: number, of = both) => Array.from({ length: count }, () => ({ titles: of }));
  const good = (type: string, more: object = {}) => ({
    questionId: `q-${randomUUID()}`,
    type,
    presentation: 'VERTICAL',
    titles: both,
    alternatives: type === 'OPEN_TEXT' ? [] : alternatives(2),
    ...more,
  });

  test('reports every error at its path, changes nothing, and succeeds after they are corrected', async () => {
    const path = await makeDraft([], { titles: both });
    const list = [
      good('SINGLE_CHOICE', { titles: titles('en-US') }),
      good('SINGLE_CHOICE', { alternatives: [] }),
      good('MULTIPLE_CHOICE', { alternatives: [{ titles: both }, { titles: titles('de-DE') }] }),
      good('MULTIPLE_CHOICE', { presentation: 'DROPDOWN', alternatives: [] }),
      good('OPEN_TEXT', { presentation: 'DROPDOWN', alternatives: alternatives(1) }),
      good('SCALE', { presentation: 'DROPDOWN', alternatives: alternatives(1) }),
      good('SINGLE_CHOICE', { presentation: 'DROPDOWN', titles: [...both, ...titles('fr-FR')] }),
    ];
    await write(service, 'put', `${path}/questions`, list).expect(200);
    const before = await getDraft(service, path).expect(200);
    const { body } = await publish(path).expect(409);
    expect(body.code).toBe('not_publishable');
    expect(body.errors).toEqual({
      'questions.0.titles': [expect.stringContaining('has no de-DE')],
      'questions.1.alternatives': [expect.stringContaining('at least 1 for SINGLE_CHOICE')],
      'questions.2.alternatives.1.titles': [expect.stringContaining('has no en-US')],
      'questions.3.presentation': [
        expect.stringContaining('must be HORIZONTAL or VERTICAL for MULTIPLE_CHOICE'),
      ],
      'questions.3.alternatives': [expect.stringContaining('at least 1 for MULTIPLE_CHOICE')],
      'questions.4.presentation': [expect.stringContaining('OPEN_TEXT')],
      'questions.4.alternatives': [expect.stringContaining('must be none for OPEN_TEXT')],
      'questions.5.presentation': [expect.stringContaining('SCALE')],
      'questions.5.alternatives': [expect.stringContaining('at least 2 for SCALE')],
    });
    expect(body.errors['questions.0.titles'][0]).toContain(list[0]?.questionId);
    expect((await getDraft(service, path).expect(200)).body).toEqual(before.body);
    await get(service, `${path}/questions`).expect(404);

    const types = ['SINGLE_CHOICE', 'MULTIPLE_CHOICE', 'OPEN_TEXT', 'SCALE'];
    await write(
      service,
      'put',
      `${path}/questions`,
      types.map((type) => good(type)),
    ).expect(200);
    await publish(path).expect(200);
    await get(service, `${path}/questions`).expect(200);
  });

  test('requires the languages of all questions if the quest has no titles', async () => {
    const path = await makeDraft();
    await write(service, 'put', `${path}/questions`, [
      good('OPEN_TEXT', { titles: titles('en-US') }),
      good('OPEN_TEXT', { titles: titles('de-DE') }),
    ]).expect(200);
    const { body } = await publish(path).expect(409);
    expect(Object.keys(body.errors)).toEqual(['questions.0.titles', 'questions.1.titles']);
  });

  test('names many missing languages of many alternatives without running out of memory', async () => {
    const path = await makeDraft();
    const codes = Array.from({ length: 100 }, (_, n) => `aa-${String(n).padStart(3, '0')}`);
    const alternativesOf = alternatives(500, titles('aa-000'));
    const list = Array.from({ length: 100 }, () =>
      good('SINGLE_CHOICE', { titles: titles('aa-000'), alternatives: alternativesOf }),
    );
    await write(service, 'put', `${path}/questions`, list).expect(200);
    await write(service, 'patch', path, { titles: titles(...codes) }).expect(200);
    const { body } = await publish(path).expect(409);
    expect(body.errors['questions.0.titles'][0]).toContain('has no aa-001, aa-002');
    expect(Object.keys(body.errors)).toHaveLength(1000);
  });

  test('requires titles of the quest if its questions have more languages than it can have titles', async () => {
    const path = await makeDraft();
    const codes = Array.from({ length: 101 }, (_, n) => `aa-${String(n).padStart(3, '0')}`);
    await write(service, 'put', `${path}/questions`, [
      good('OPEN_TEXT', { titles: titles(...codes.slice(0, 100)) }),
      good('OPEN_TEXT', { titles: titles(...codes.slice(100)) }),
    ]).expect(200);
    const { body } = await publish(path).expect(409);
    expect(body).toMatchObject({
      code: 'not_publishable',
      errors: { titles: ['must name the languages: the questions have more than 100'] },
    });
    expect(Object.keys(body.errors)).toHaveLength(1);
  });

  test('reads few questions at a time, because each may be large', async () => {
    const path = await makeDraft(Array.from({ length: 25 }, (_, n) => String(n)));
    const sizes = await service.context.database.sql.begin(async (tx) => {
      const read: number[] = [];
      for await (const questions of readQuestions(tx, idOf(path))) read.push(questions.length);
      return read;
    });
    expect(sizes).toEqual([10, 10, 5]);
  });

  test('refuses a quest without questions', async () => {
    const { body } = await publish(await makeDraft()).expect(409);
    expect(body.errors).toEqual({ questions: ['must not be empty'] });
  });

  test('of a published quest without a draft changes nothing, and can be repeated', async () => {
    const path = await makePublished('a');
    const before = await get(service, path).expect(200);
    const { body } = await publish(path).expect(200);
    expect(body).toEqual(before.body);
    await publish(`/quests/${randomUUID()}`).expect(404);
  });

  test('of ten thousand questions succeeds, or reports the first thousand errors', async () => {
    const path = await makeDraft();
    const list = Array.from({ length: 10_000 }, () => good('SINGLE_CHOICE'));
    await write(service, 'put', `${path}/questions`, list).expect(200);
    await write(service, 'patch', path, { titles: titles('fr-FR') }).expect(200);
    const { body } = await publish(path).expect(409);
    expect(Object.values(body.errors as Record<string, string[]>).flat()).toHaveLength(1000);
    await write(service, 'patch', path, { titles: [] }).expect(200);
    await publish(path).expect(200);
  });
});
