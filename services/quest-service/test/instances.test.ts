import { startRedis } from '@platform/local/redis';
import { openDatabase } from '@platform/service-kit/db';
import { startProxy } from '@platform/service-kit/testing';
import { describe, expect, test } from 'vitest';
import {
  get,
  makeQuest,
  createTestDatabase,
  question,
  startService,
  titlesOf,
  write,
  type Instance,
} from './harness.ts';
import { redisOf, warmUp } from './warm-up.ts';

/** Two instances on one database and one Redis of their own; `one` reaches Redis through a proxy. */
const startPair = async () => {
  const stack = new AsyncDisposableStack();
  const server = await startRedis();
  stack.defer(() => server.stop());
  const proxy = stack.use(await startProxy(server.url));
  const { url } = stack.use(await createTestDatabase());
  const one = stack.use(await startService({ databaseUrl: url, variables: { REDIS_URL: proxy.url } }));
  const two = stack.use(await startService({ databaseUrl: url, variables: { REDIS_URL: server.url } }));
  return { one, two, server, proxy, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

test('a write at one instance is always visible at the other at once', async () => {
  await using pair = await startPair();
  const questId = await makeQuest(pair.two, ['0']);
  await warmUp(pair.two, questId);
  await warmUp(pair.one, questId);
  const path = `/quests/${questId}/questions`;
  for (let round = 1; round <= 60; round++) {
    const [writer, reader] = round % 2 === 0 ? [pair.one, pair.two] : [pair.two, pair.one];
    await write(writer, 'put', path, [question(String(round))]).expect(200);
    const seen = await Promise.all([reader, writer, reader].map((instance) => titlesOf(instance, questId)));
    expect(seen).toEqual([[String(round)], [String(round)], [String(round)]]);
  }
});

test('while both instances read, no read returns a list that was replaced before it was sent', async () => {
  await using pair = await startPair();
  const questId = await makeQuest(pair.one, ['0']);
  await warmUp(pair.one, questId);
  let answered = 0;
  let writing = true;
  const read = async (instance: Instance): Promise<number> => {
    let reads = 0;
    while (writing) {
      const atLeast = answered;
      const [title] = await titlesOf(instance, questId);
      expect(Number(title)).toBeGreaterThanOrEqual(atLeast);
      reads++;
    }
    return reads;
  };
  const readers = [pair.one, pair.two, pair.one, pair.two].map(read);
  for (let round = 1; round <= 80; round++) {
    const writer = round % 3 === 0 ? pair.one : pair.two;
    await write(writer, 'put', `/quests/${questId}/questions`, [question(String(round))]).expect(200);
    answered = round;
  }
  writing = false;
  for (const reads of await Promise.all(readers)) expect(reads).toBeGreaterThan(0);
});

test('a quest or draft that is published at one instance is always visible at the other at once', async () => {
  await using pair = await startPair();
  const { body } = await write(pair.one, 'post', '/quests', { title: 'A draft', draft: true }).expect(201);
  const path = `/quests/${body.questId}`;
  await write(pair.one, 'put', `${path}/questions`, [question('0')]).expect(200);
  for (let read = 0; read < 5; read++) await get(pair.two, `${path}/questions`).expect(404);
  await write(pair.one, 'post', `${path}/publish`).expect(200);
  expect(await titlesOf(pair.two, body.questId)).toEqual(['0']);
  await warmUp(pair.one, body.questId);
  await warmUp(pair.two, body.questId);
  for (let round = 1; round <= 30; round++) {
    const [writer, reader] = round % 2 === 0 ? [pair.one, pair.two] : [pair.two, pair.one];
    await write(writer, 'put', `${path}/questions?draft=true`, [question(String(round))]).expect(200);
    expect(await titlesOf(reader, body.questId)).toEqual([String(round - 1)]);
    await write(reader, 'post', `${path}/publish`).expect(200);
    expect(await titlesOf(writer, body.questId)).toEqual([String(round)]);
  }
});

test('a deleted quest is 404 at the other instance at once', async () => {
  await using pair = await startPair();
  const questId = await makeQuest(pair.one, ['a']);
  await warmUp(pair.two, questId);
  await write(pair.one, 'delete', `/quests/${questId}`).expect(204);
  await get(pair.two, `/quests/${questId}/questions`).expect(404);
});

describe('a writer that has lost Redis answers only when no other instance can return the old version', () => {
  test.for(['cut', 'freeze'] as const)('%s', async (how) => {
    await using pair = await startPair();
    const questId = await makeQuest(pair.two, ['old']);
    await warmUp(pair.two, questId);
    await expect.poll(() => redisOf(pair.one).status).toBe('ready');
    await pair.proxy[how]();
    await warmUp(pair.two, questId);
    await write(pair.one, 'put', `/quests/${questId}/questions`, [question('new')]).expect(200);
    expect(await titlesOf(pair.two, questId)).toEqual(['new']);
    expect(await titlesOf(pair.one, questId)).toEqual(['new']);
    await pair.proxy.heal();
    await warmUp(pair.one, questId);
    expect(await titlesOf(pair.one, questId)).toEqual(['new']);
  });
});

test('a reader that has lost Redis reads the version from PostgreSQL', async () => {
  await using pair = await startPair();
  const questId = await makeQuest(pair.two, ['old']);
  await warmUp(pair.one, questId);
  await pair.proxy.cut();
  await write(pair.two, 'put', `/quests/${questId}/questions`, [question('new')]).expect(200);
  expect(await titlesOf(pair.one, questId)).toEqual(['new']);
});

test('every write is seen although Redis loses its data at any moment', async () => {
  await using pair = await startPair();
  const questId = await makeQuest(pair.one, ['0']);
  await warmUp(pair.two, questId);
  for (let round = 1; round <= 20; round++) {
    const flushed = redisOf(pair.two).flushall();
    await write(pair.one, 'put', `/quests/${questId}/questions`, [question(String(round))]).expect(200);
    expect(await titlesOf(pair.two, questId)).toEqual([String(round)]);
    await flushed;
  }
});

test('while Redis is down reads and writes succeed, and Redis is used again when it is back', async () => {
  await using pair = await startPair();
  const questId = await makeQuest(pair.one, ['old']);
  await warmUp(pair.two, questId);
  await pair.server.kill9();
  expect(await titlesOf(pair.two, questId)).toEqual(['old']);
  await write(pair.one, 'put', `/quests/${questId}/questions`, [question('new')]).expect(200);
  expect(await titlesOf(pair.two, questId)).toEqual(['new']);
  await pair.server.restart();
  expect(await titlesOf(pair.two, questId)).toEqual(['new']);
  await warmUp(pair.two, questId);
  await write(pair.two, 'put', `/quests/${questId}/questions`, [question('newer')]).expect(200);
  expect(await titlesOf(pair.one, questId)).toEqual(['newer']);
});

test('a frequently read quest is returned without a query', async () => {
  await using database = await createTestDatabase();
  await using opened = openDatabase({ url: database.url, name: 'quest-service' });
  let queries = 0;
  const sql = new Proxy(opened.sql, {
    apply: (target, self, given) => {
      queries++;
      return Reflect.apply(target, self, given) as unknown;
    },
  });
  await using instance = await startService({
    databaseUrl: database.url,
    overrides: { database: { ...opened, sql } },
  });
  const questId = await makeQuest(instance, ['a', 'b']);
  const burst = async () => {
    await titlesOf(instance, questId);
    const before = queries;
    for (let call = 0; call < 20; call++) expect(await titlesOf(instance, questId)).toEqual(['a', 'b']);
    return queries - before;
  };
  expect(await burst()).toBeGreaterThan(0);
  await expect.poll(burst).toBe(0);
});
