import type {} from '@platform/local/provided';
import { startRedis } from '@platform/local/redis';
import { openRedis } from '@platform/service-kit/redis';
import { captureLog } from '@platform/service-kit/testing';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject, expect, test } from 'vitest';
import { createVersionCache } from './version-cache.ts';

const short = { ttl: 400, fillTimeout: 200 };

/** A version cache with its own Redis connection; `read` stands for PostgreSQL. */
const open = async (
  read: (questId: string) => Promise<string | undefined>,
  { url = inject('redisUrl') ?? '', times = short } = {},
) => {
  const redis = openRedis(url, captureLog().log);
  if (redis === undefined) throw new Error('these tests need a Redis');
  const versions = createVersionCache({ redis, read, ...times });
  const keyOf = (questId: string) => `quest-service:version:${questId}`;
  const stored = (questId: string) => redis.get(keyOf(questId)).catch(() => null);
  const warmUp = async (questId: string, version: string) => {
    await expect
      .poll(async () => [await versions.current(questId), await stored(questId)])
      .toEqual([version, version]);
  };
  return { ...versions, redis, stored, warmUp, [Symbol.dispose]: () => redis.disconnect() };
};

test('a version is read from PostgreSQL once and then from Redis', async () => {
  const questId = randomUUID();
  let reads = 0;
  const read = async () => {
    reads++;
    return 'v1';
  };
  const times = { ttl: 30_000, fillTimeout: 200 };
  using cache = await open(read);
  await cache.warmUp(questId, 'v1');
  await cache.redis.set(`quest-service:version:${questId}`, 'v1', 'PX', times.ttl);
  const before = reads;
  for (let call = 0; call < 20; call++) expect(await cache.current(questId)).toBe('v1');
  expect(reads).toBe(before);
});

test('nothing is stored for a quest that does not exist', async () => {
  const questId = randomUUID();
  using cache = await open(async () => undefined);
  await expect.poll(() => cache.redis.status).toBe('ready');
  expect(await cache.current(questId)).toBeUndefined();
  expect(await cache.stored(questId)).not.toBe('undefined');
});

test('a stored version expires', async () => {
  const questId = randomUUID();
  using cache = await open(async () => 'v1');
  await cache.warmUp(questId, 'v1');
  await expect.poll(() => cache.stored(questId)).toBeNull();
});

/** Runs `meanwhile` and changes the version while a reader reads the old one from PostgreSQL. */
const expectOldVersionNotStored = async (
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
  await slow.warmUp(randomUUID(), 'v1');
  await other.warmUp(randomUUID(), 'v1');
  interrupt = true;
  await slow.current(questId);
  expect(interrupt).toBe(false);
  expect(await slow.stored(questId)).not.toBe('v1');
  expect(await Promise.all([slow.current(questId), other.current(questId)])).toEqual(['v2', 'v2']);
};

test('a version that was read before a write is not stored after it', () =>
  expectOldVersionNotStored((other, questId) => other.invalidate(questId)));

test('a version that was read before a write does not replace the one that was read after it', () =>
  expectOldVersionNotStored(async (other, questId) => {
    await other.invalidate(questId);
    await other.current(questId);
  }));

test('a version is not stored if Redis lost the fill token during the read', () =>
  expectOldVersionNotStored((other, questId) => other.redis.del(`quest-service:version:${questId}`)));

test('a reader does not mistake a fill token that was stored after a write for its own', async () => {
  const questId = randomUUID();
  const gate = Promise.withResolvers<string>();
  // The fill token stays until the poll below has seen it. A new connection is not used until `ttl` has passed.
  const times = { ttl: 5_000, fillTimeout: 30_000 };
  using other = await open(async (id) => (id === questId ? gate.promise : 'v1'), { times });
  let later: Promise<string | undefined> | undefined;
  using slow = await open(async (id) => {
    if (id !== questId) return 'v1';
    await other.invalidate(questId);
    later = other.current(questId);
    await expect.poll(() => other.stored(questId)).toMatch(/^filling:/);
    return 'v1';
  });
  await Promise.all([slow.warmUp(randomUUID(), 'v1'), other.warmUp(randomUUID(), 'v1')]);
  await slow.current(questId);
  expect(await slow.stored(questId)).not.toBe('v1');
  gate.resolve('v2');
  expect(await later).toBe('v2');
});

test('a version is not stored if reading it took longer than the fill timeout', async () => {
  const questId = randomUUID();
  using cache = await open(async (id) => {
    while (id === questId && (await cache.stored(questId)) !== null) await sleep(20);
    return 'v1';
  });
  await cache.warmUp(randomUUID(), 'v1');
  expect(await cache.current(questId)).toBe('v1');
  expect(await cache.stored(questId)).toBeNull();
});

test('an old version that a restarted Redis loads from its disk is not used', async () => {
  const server = await startRedis();
  try {
    const questId = randomUUID();
    let version = 'v1';
    // Longer than Redis takes to start.
    const times = { ttl: 12_000, fillTimeout: 3000 };
    using cache = await open(async () => version, { url: server.url, times });
    await cache.warmUp(questId, 'v1');
    await cache.redis.save();
    version = 'v2';
    await cache.invalidate(questId);
    expect(await cache.current(questId)).toBe('v2');
    await server.kill9();
    await server.restart();
    const seen = new Set<string | null>();
    await expect
      .poll(async () => {
        expect(await cache.current(questId)).toBe('v2');
        const version = await cache.stored(questId);
        seen.add(version);
        return version;
      })
      .toBe('v2');
    // Otherwise Redis did not load the old version, and this test proves nothing.
    expect(seen).toContain('v1');
  } finally {
    await server.stop();
  }
});
