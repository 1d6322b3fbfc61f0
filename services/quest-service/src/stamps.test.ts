import type {} from '@platform/local/provided';
import { startRedis } from '@platform/local/redis';
import { openRedis } from '@platform/service-kit/redis';
import { captureLog } from '@platform/service-kit/testing';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject, expect, test } from 'vitest';
import { createStamps } from './stamps.ts';

const short = { lease: 400, fill: 200, hold: 0 };

/** Stamps over a Redis, whose PostgreSQL is `read`; ready when Redis is relied on. */
const open = async (
  read: (questId: string) => Promise<string | undefined>,
  { url = inject('redisUrl') ?? '', times = short } = {},
) => {
  const redis = openRedis(url, captureLog().log);
  if (redis === undefined) throw new Error('these tests need a Redis');
  const stamps = createStamps({ redis, read, times });
  const keyOf = (questId: string) => `quest-service:version:${questId}`;
  const stamped = (questId: string) => redis.get(keyOf(questId)).catch(() => null);
  const warm = async (questId: string, version: string) => {
    await expect
      .poll(async () => [await stamps.current(questId), await stamped(questId)], { timeout: 20_000 })
      .toEqual([version, version]);
  };
  return { ...stamps, redis, stamped, warm, [Symbol.dispose]: () => redis.disconnect() };
};

test('a version is read once and then known', async () => {
  const questId = randomUUID();
  let reads = 0;
  const read = async () => {
    reads++;
    return 'v1';
  };
  const times = { lease: 30_000, fill: 200, hold: 0 };
  using one = await open(read);
  await one.warm(questId, 'v1');
  await one.redis.set(`quest-service:version:${questId}`, 'v1', 'PX', times.lease);
  const before = reads;
  for (let call = 0; call < 20; call++) expect(await one.current(questId)).toBe('v1');
  expect(reads).toBe(before);
});

test('a quest that is not there leaves no stamp', async () => {
  const questId = randomUUID();
  using one = await open(async () => undefined);
  await expect.poll(() => one.redis.status).toBe('ready');
  expect(await one.current(questId)).toBeUndefined();
  expect(await one.stamped(questId)).not.toBe('undefined');
});

test('what a process holds on to has run out when a write is answered, in every process', async () => {
  const questId = randomUUID();
  let version = 'v1';
  const times = { lease: 400, fill: 200, hold: 150 };
  using one = await open(async () => version, { times });
  using other = await open(async () => version, { times });
  await Promise.all([one.warm(questId, 'v1'), other.warm(questId, 'v1')]);
  await Promise.all([one.current(questId), other.current(questId)]);
  version = 'v2';
  // Until the write is answered the old version may be given, and here is: it is held.
  expect(await one.current(questId)).toBe('v1');
  await other.forget(questId);
  expect(await Promise.all([one.current(questId), other.current(questId)])).toEqual(['v2', 'v2']);
});

test('a stamp runs out', async () => {
  const questId = randomUUID();
  using one = await open(async () => 'v1');
  await one.warm(questId, 'v1');
  await expect.poll(() => one.stamped(questId), { timeout: 5000 }).toBeNull();
});

/** A reader is overtaken while it reads the old version from PostgreSQL. */
const expectNoOldStamp = async (
  meanwhile: (service: Awaited<ReturnType<typeof open>>, questId: string) => Promise<unknown>,
) => {
  const questId = randomUUID();
  let version = 'v1';
  let interrupt = false;
  using other = await open(async () => version);
  using slow = await open(async () => {
    const seen = version;
    if (interrupt) {
      interrupt = false;
      version = 'v2';
      await meanwhile(other, questId);
    }
    return seen;
  });
  await slow.warm(randomUUID(), 'v1');
  await other.warm(randomUUID(), 'v1');
  interrupt = true;
  await slow.current(questId);
  expect(interrupt).toBe(false);
  expect(await slow.stamped(questId)).not.toBe('v1');
  expect(await Promise.all([slow.current(questId), other.current(questId)])).toEqual(['v2', 'v2']);
};

test('a reader that a writer overtook sets no stamp', () =>
  expectNoOldStamp((other, questId) => other.forget(questId)));

test('a reader that a writer and another reader overtook leaves their stamp alone', () =>
  expectNoOldStamp(async (other, questId) => {
    await other.forget(questId);
    await other.current(questId);
  }));

test('a reader during whose reading Redis lost its memory sets no stamp', () =>
  expectNoOldStamp((other, questId) => other.redis.del(`quest-service:version:${questId}`)));

test('a reader does not take the mark of another, made after a write, for its own', async () => {
  const questId = randomUUID();
  const gate = Promise.withResolvers<string>();
  using other = await open(async (id) => (id === questId ? gate.promise : 'v1'));
  let later: ReturnType<typeof other.current>;
  using slow = await open(async (id) => {
    if (id !== questId) return 'v1';
    await other.forget(questId);
    later = other.current(questId);
    await expect.poll(() => other.stamped(questId)).toMatch(/^filling:/);
    return 'v1';
  });
  await Promise.all([slow.warm(randomUUID(), 'v1'), other.warm(randomUUID(), 'v1')]);
  await slow.current(questId);
  expect(await slow.stamped(questId)).not.toBe('v1');
  gate.resolve('v2');
  expect(await later).toBe('v2');
});

test('a reader that takes too long sets no stamp, though nobody overtook it', async () => {
  const questId = randomUUID();
  using one = await open(async (id) => {
    while (id === questId && (await one.stamped(questId)) !== null) await sleep(20);
    return 'v1';
  });
  await one.warm(randomUUID(), 'v1');
  expect(await one.current(questId)).toBe('v1');
  expect(await one.stamped(questId)).toBeNull();
});

test('a Redis that comes back with an old memory is not believed', async () => {
  const server = await startRedis();
  try {
    const questId = randomUUID();
    let version = 'v1';
    const times = { lease: 4000, fill: 1000, hold: 0 };
    using one = await open(async () => version, { url: server.url, times });
    await one.warm(questId, 'v1');
    await one.redis.save();
    version = 'v2';
    await one.forget(questId);
    expect(await one.current(questId)).toBe('v2');
    await server.kill9();
    await server.restart();
    const seen = new Set<string | null>();
    await expect
      .poll(
        async () => {
          expect(await one.current(questId)).toBe('v2');
          const stamp = await one.stamped(questId);
          seen.add(stamp);
          return stamp;
        },
        { timeout: 20_000 },
      )
      .toBe('v2');
    // Otherwise Redis had nothing old to tell, and this test would prove nothing.
    expect(seen).toContain('v1');
  } finally {
    await server.stop();
  }
}, 40_000);
