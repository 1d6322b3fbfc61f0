import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import { titlesOf, type Instance } from './harness.ts';

const keyOf = (questId: string) => `quest-service:version:${questId}`;

export const redisOf = ({ context }: Instance): Redis => {
  if (context.redis === undefined) throw new Error('this instance has no Redis');
  return context.redis;
};

/** Reads until the quest's version is in Redis and the page in the instance's memory. */
export const warmUp = async (instance: Instance, questId: string): Promise<void> => {
  await expect
    .poll(async () => {
      await titlesOf(instance, questId);
      return redisOf(instance)
        .get(keyOf(questId))
        .catch(() => null);
    })
    .toMatch(/^[0-9a-f-]{36}$/);
  await titlesOf(instance, questId);
};

/** How long the quest's version stays in Redis, in milliseconds. */
export const remainingTtl = (instance: Instance, questId: string): Promise<number> =>
  redisOf(instance).pttl(keyOf(questId));
