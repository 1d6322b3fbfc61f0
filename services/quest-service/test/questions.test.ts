import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { get, listed, makeQuest, question, startService, titlesOf, write } from './harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
let questId: string;
let path: string;
beforeAll(async () => {
  service = await startService();
  questId = await makeQuest(service, ['a', 'b', 'c']);
  path = `/quests/${questId}/questions`;
});
afterAll(() => service[Symbol.asyncDispose]());

const en = (title: string) => [{ languageCode: 'en-US', title }];
const fresh = async (...titles: string[]) => `/quests/${await makeQuest(service, titles)}/questions`;
const idOf = (at: string) => at.split('/')[2] ?? '';

describe('the whole list', () => {
  test('is replaced, sorted by order number, and returned as GET returns it', async () => {
    const at = await fresh('old');
    const list = [
      question('last', { orderNumber: 1, questionId: 'q-last', type: 'SCALE', presentation: 'DROPDOWN' }),
      question('first', { orderNumber: 0 }),
    ];
    const put = await write(service, 'put', at, list).expect(200);
    const read = await get(service, at).expect(200);
    expect(read.body).toEqual(put.body);
    expect(read.headers['etag']).toBe(put.headers['etag']);
    expect(await titlesOf(service, idOf(at))).toEqual(['first', 'last']);
    expect((await get(service, `/quests/${idOf(at)}`)).body.questionCount).toBe(2);
  });

  test('can be sent back as GET returned it', async () => {
    const { body } = await get(service, path).expect(200);
    const put = await write(service, 'put', path, body).expect(200);
    expect(put.body).toEqual(body);
  });

  test('may be empty', async () => {
    const at = await fresh('a');
    expect((await write(service, 'put', at, []).expect(200)).body).toEqual([]);
    expect(await listed(service, idOf(at))).toEqual([]);
  });

  test('may have 10,000 questions and not one more', async () => {
    const at = await fresh();
    const many = Array.from({ length: 10_000 }, (_, n) => question(`question ${n}`));
    await write(service, 'put', at, many).expect(200);
    expect(await titlesOf(service, idOf(at), '?Skip=9998')).toEqual(['question 9998', 'question 9999']);
    const full = await write(service, 'post', at, question('one more')).expect(409);
    expect(full.body.code).toBe('quest_full');
    const over = await write(service, 'put', at, [...many, question('one more')]).expect(400);
    expect(over.body.errors).toEqual({ body: ['must have at most 10000 items'] });
  });

  test('stays unchanged when one new question is invalid', async () => {
    const at = await fresh('a', 'b');
    await write(service, 'put', at, [question('new'), { type: 'SCALE' }]).expect(400);
    expect(await titlesOf(service, idOf(at))).toEqual(['a', 'b']);
  });

  test('of millions of nulls is rejected with one message', async () => {
    const zeros = `[${'0,'.repeat(1_000_000)}0]`;
    const { body } = await write(service, 'put', path).type('json').send(zeros).expect(400);
    expect(body.errors).toEqual({ body: ['must have at most 10000 items'] });
  });

  test('beyond 32 MiB is 413', async () => {
    const huge = JSON.stringify([question('x'.repeat(33_600_000))]);
    await write(service, 'put', path).type('json').send(huge).expect(413);
  });
});

describe('one question', () => {
  test('is added at the end, or at its order number', async () => {
    const at = await fresh('a', 'b');
    const end = await write(service, 'post', at, question('c')).expect(201);
    expect(end.body.orderNumber).toBe(2);
    expect(end.headers['location']).toBe(`/v1${at}/${end.body.questionId}`);
    const read = await get(service, `${at}/${end.body.questionId}`).expect(200);
    expect(read.body).toEqual(end.body);
    const etag = String(read.headers['etag']);
    const held = await get(service, `${at}/${end.body.questionId}`).set('If-None-Match', etag).expect(304);
    expect([held.headers['etag'], held.headers['cache-control'], held.text]).toEqual([etag, 'no-cache', '']);
    await get(service, `${at}/nothing`).expect(404);
    const first = question('first', { orderNumber: 0, questionId: 'the-first' });
    expect((await write(service, 'post', at, first).expect(201)).body).toMatchObject({
      questionId: 'the-first',
      orderNumber: 0,
    });
    expect(await titlesOf(service, idOf(at))).toEqual(['first', 'a', 'b', 'c']);
    expect((await listed(service, idOf(at))).map(({ orderNumber }) => orderNumber)).toEqual([0, 1, 2, 3]);
  });

  test('can be replaced, and moved either way', async () => {
    const at = await fresh('a', 'b', 'c', 'd');
    const [, second] = await listed(service, idOf(at));
    const one = `${at}/${second?.questionId}`;
    await write(service, 'put', one, question('B')).expect(200);
    expect(await titlesOf(service, idOf(at))).toEqual(['a', 'B', 'c', 'd']);
    await write(service, 'put', one, question('B', { orderNumber: 3 })).expect(200);
    expect(await titlesOf(service, idOf(at))).toEqual(['a', 'c', 'd', 'B']);
    await write(service, 'put', one, question('B', { orderNumber: 0 })).expect(200);
    expect(await titlesOf(service, idOf(at))).toEqual(['B', 'a', 'c', 'd']);
    await write(service, 'put', one, question('B', { orderNumber: 4 })).expect(400);
    await write(service, 'put', one, question('B', { questionId: 'other' })).expect(400);
  });

  test('can be deleted, and the following questions move up', async () => {
    const at = await fresh('a', 'b', 'c');
    const [first] = await listed(service, idOf(at));
    await write(service, 'delete', `${at}/${first?.questionId}`).expect(204);
    expect((await listed(service, idOf(at))).map(({ orderNumber }) => orderNumber)).toEqual([0, 1]);
    await write(service, 'delete', `${at}/${first?.questionId}`).expect(404);
  });

  test('that does not exist is 404', async () => {
    await write(service, 'put', `${path}/nobody`, question('x')).expect(404);
    await write(service, 'delete', `${path}/nobody`).expect(404);
    await write(service, 'post', `/quests/${randomUUID()}/questions`, question('x')).expect(404);
    await write(service, 'put', `/quests/${randomUUID()}/questions`, []).expect(404);
  });

  test('of another quest is not touched', async () => {
    const [mine, other] = [await fresh('mine'), await fresh('other')];
    const [question1] = await listed(service, idOf(mine));
    await write(service, 'delete', `${other}/${question1?.questionId}`).expect(404);
    expect(await titlesOf(service, idOf(mine))).toEqual(['mine']);
  });

  test('whose id is taken is 409', async () => {
    const at = await fresh();
    await write(service, 'post', at, question('a', { questionId: 'q1' })).expect(201);
    const again = await write(service, 'post', at, question('b', { questionId: 'q1' })).expect(409);
    expect(again.body.code).toBe('question_exists');
    await write(service, 'post', await fresh(), question('b', { questionId: 'q1' })).expect(201);
  });
});

describe('an invalid question is 400 and the field is named', () => {
  const alternative = (more: object = {}) => ({ titles: en('Yes'), ...more });
  const cases: [object, string][] = [
    [{ type: 'single_choice' }, 'type'],
    [{ type: undefined }, 'type'],
    [{ presentation: 'DIAGONAL' }, 'presentation'],
    [{ presentation: undefined }, 'presentation'],
    [{ titles: [] }, 'titles'],
    [{ titles: undefined }, 'titles'],
    [{ titles: 'a' }, 'titles'],
    [{ titles: Array.from({ length: 101 }, () => en('a')[0]) }, 'titles'],
    [{ titles: [...en('a'), ...en('b')] }, 'titles.1.languageCode'],
    ...['en', 'en_US', 'en-us', 'EN-US', 'e-US', 'en-USA', 'en-US-x', 'x'.repeat(99), ' en-US', ''].map(
      (languageCode): [object, string] => [
        { titles: [{ languageCode, title: 'a' }] },
        'titles.0.languageCode',
      ],
    ),
    [{ titles: en('') }, 'titles.0.title'],
    [{ titles: en('\0') }, 'titles.0.title'],
    [{ titles: en('\udfff') }, 'titles.0.title'],
    [{ titles: en('x'.repeat(2001)) }, 'titles.0.title'],
    [{ titles: [{ ...en('a')[0], more: 1 }] }, 'titles.0.more'],
    [{ questionId: '' }, 'questionId'],
    [{ questionId: '../x' }, 'questionId'],
    [{ questionId: 'x'.repeat(65) }, 'questionId'],
    [{ questionId: 7 }, 'questionId'],
    [{ questId: randomUUID() }, 'questId'],
    [{ orderNumber: -1 }, 'orderNumber'],
    [{ orderNumber: 0.5 }, 'orderNumber'],
    [{ orderNumber: '0' }, 'orderNumber'],
    [{ orderNumber: 2 ** 31 }, 'orderNumber'],
    [{ orderNumber: 99 }, 'orderNumber'],
    [{ alternatives: {} }, 'alternatives'],
    [{ alternatives: null }, 'alternatives'],
    [{ alternatives: [alternative({ type: 'MAYBE' })] }, 'alternatives.0.type'],
    [{ alternatives: [alternative({ orderNumber: 1 })] }, 'alternatives.0.orderNumber'],
    [{ alternatives: [alternative({ orderNumber: 0 }), alternative()] }, 'alternatives.1.orderNumber'],
    [
      { alternatives: [alternative({ alternativeId: 'a' }), alternative({ alternativeId: 'a' })] },
      'alternatives.1.alternativeId',
    ],
    [{ alternatives: [{}] }, 'alternatives.0.titles'],
  ];
  test.for(cases)('%j', async ([more, name]) => {
    const { body } = await write(service, 'post', path, question('x', more)).expect(400);
    expect(Object.keys(body.errors)).toEqual([name]);
  });

  test.for([
    ['a gap in the order numbers', [{ orderNumber: 0 }, { orderNumber: 2 }], '1.orderNumber'],
    ['an order number twice', [{ orderNumber: 0 }, { orderNumber: 0 }], '1.orderNumber'],
    ['only some order numbers', [{ orderNumber: 0 }, {}], '1.orderNumber'],
    ['an id twice', [{ questionId: 'q' }, { questionId: 'q' }], '1.questionId'],
  ] as const)('a list with %s', async ([, mores, name]) => {
    const list = mores.map((more) => question('x', more));
    const { body } = await write(service, 'put', path, list).expect(400);
    expect(Object.keys(body.errors)).toEqual([name]);
  });

  test('a list that is not an array', async () => {
    for (const body of ['{}', 'null', '"x"', '7'])
      await write(service, 'put', path).type('json').send(body).expect(400);
  });

  test.for(['..%2Fx', 'a%20b', 'a%00', 'x'.repeat(65), '-x'])('a question id in the path: %s', async (id) => {
    const { body } = await write(service, 'delete', `${path}/${id}`).expect(400);
    expect(Object.keys(body.errors)).toEqual(['questionId']);
  });
});

test('every type, presentation, kind of alternative and script is accepted', async () => {
  const at = await fresh();
  const kinds = ['DEFAULT', 'OTHER', 'NONE_OF_THE_ABOVE'];
  const titles = [
    { languageCode: 'en-US', title: 'House' },
    { languageCode: 'ar-EG', title: 'بيت' },
    { languageCode: 'es-419', title: '🏠'.repeat(1000) },
    { languageCode: 'fil-PH', title: 'Bahay "o\\" \u2028' },
  ];
  const alternatives = kinds.map((type, orderNumber) => ({ alternativeId: type, type, orderNumber, titles }));
  for (const type of ['SINGLE_CHOICE', 'MULTIPLE_CHOICE', 'OPEN_TEXT', 'SCALE']) {
    for (const presentation of ['HORIZONTAL', 'VERTICAL', 'DROPDOWN']) {
      const sent = { questionId: `${type}.${presentation}`, type, presentation, titles, alternatives };
      const { body } = await write(service, 'post', at, sent).expect(201);
      expect(body).toEqual({ ...sent, orderNumber: expect.any(Number) });
    }
  }
});

test('concurrent writers leave no gap and lose nothing', async () => {
  const at = await fresh('start');
  const adds = Array.from({ length: 20 }, (_, n) =>
    write(service, 'post', at, question(`q${n}`, { questionId: `q${n}`, orderNumber: 0 })).expect(201),
  );
  await Promise.all(adds);
  const moves = Array.from({ length: 10 }, (_, n) =>
    write(service, 'put', `${at}/q${n}`, question(`q${n}`, { orderNumber: (n * 7) % 11 })).expect(200),
  );
  const deletes = Array.from({ length: 10 }, (_, n) =>
    write(service, 'delete', `${at}/q${n + 10}`).expect(204),
  );
  await Promise.all([...moves, ...deletes]);
  const now = await listed(service, idOf(at));
  expect(now.map(({ orderNumber }) => orderNumber)).toEqual([...Array(11).keys()]);
  expect(new Set(now.map(({ titles }) => titles[0]?.title)).size).toBe(11);
});

test('of two writers with the same If-Match one gets 412', async () => {
  const at = await fresh('a');
  const { headers } = await get(service, at);
  const statuses = await Promise.all(
    ['x', 'y'].map(async (title) => {
      const answer = await write(service, 'put', at, [question(title)]).set(
        'If-Match',
        String(headers['etag']),
      );
      return answer.status;
    }),
  );
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 412]);
});
