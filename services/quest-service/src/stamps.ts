import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { askRedis } from '@platform/service-kit/redis';
import type { Redis } from 'ioredis';
import { holdAnswers } from './held-answers.ts';
import { shareLookup } from './shared-lookup.ts';

/** Which version of a quest is the current one, mostly without asking PostgreSQL (docs/adr/0020). */
export interface Stamps {
  /**
   * A version that was the current one when this call began or later, as far as any answered write
   * tells; undefined when there is no such quest.
   */
  current(questId: string): string | undefined | Promise<string | undefined>;
  /** To be called after a write has committed and before it is answered. */
  forget(questId: string): Promise<void>;
}

export interface StampTimes {
  /** How long a stamp is believed, in milliseconds. */
  lease: number;
  /** How long reading the version from PostgreSQL may take before the stamp is not set after all. */
  fill: number;
  /** How long a process believes what it has found out without asking again; every write waits for as long. */
  hold: number;
}

export interface StampOptions {
  redis: Redis | undefined;
  /** Reads the version from PostgreSQL. */
  read(questId: string): Promise<string | undefined>;
  times?: StampTimes;
}

/** Sets a stamp only if the mark that was there before the version was read is still there. */
const setWhereMarked = `
  if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3])
  end`;

const mark = 'filling:';

/** Clocks of two machines may run at slightly different rates. */
const drift = 1.05;

export const createStamps = ({
  redis,
  read,
  times = { lease: 1500, fill: 500, hold: 10 },
}: StampOptions): Stamps => {
  const { lease, fill, hold } = times;

  // A Redis that restarts may come back with what it knew a while ago. Nothing of that is alive once
  // the connection has stood for a lease; until then, and after any failure, it is not asked.
  let trustedFrom = Number.POSITIVE_INFINITY;
  const startTrusting = () => {
    trustedFrom = performance.now() + lease * drift;
  };
  if (redis?.status === 'ready') startTrusting();
  redis?.on('ready', startTrusting);
  redis?.on('close', () => {
    trustedFrom = Number.POSITIVE_INFINITY;
  });

  /** What Redis says; undefined when it is not to be relied on. */
  const ask = async <T>(question: (client: Redis) => Promise<T>): Promise<T | undefined> => {
    if (performance.now() < trustedFrom) return undefined;
    const answer = await askRedis(redis, question);
    // One that is too slow is left alone for a while, so that not every request waits for it.
    if (answer === undefined && trustedFrom !== Number.POSITIVE_INFINITY) startTrusting();
    return answer;
  };

  const key = (questId: string) => `quest-service:version:${questId}`;

  /** Leaves a mark that any write removes; gives undefined where somebody was faster. */
  const leaveMark = async (questId: string): Promise<string | undefined> => {
    const own = mark + randomUUID();
    const done = await ask((client) => client.set(key(questId), own, 'PX', fill, 'NX'));
    return done === 'OK' ? own : undefined;
  };

  const look = async (questId: string): Promise<string | undefined> => {
    const found = await ask((client) => client.get(key(questId)));
    if (typeof found === 'string' && !found.startsWith(mark)) return found;
    const seen = found === null ? await leaveMark(questId) : found;
    const version = await read(questId);
    if (seen !== undefined && version !== undefined) {
      await ask((client) => client.eval(setWhereMarked, 1, key(questId), seen, version, lease));
    }
    return version;
  };

  const removeStamp = async (questId: string): Promise<void> => {
    if (redis === undefined) return;
    const removed = await askRedis(redis, (client) => client.del(key(questId)));
    // Others may reach a Redis that we can't: the last stamp they could have set has to run out.
    if (removed === undefined) await sleep((fill + lease) * drift);
  };

  return {
    current: holdAnswers(shareLookup(look), hold),
    forget: async (questId) => {
      await removeStamp(questId);
      // A process that read the stamp just before it was removed may use that version for `hold` ms.
      await sleep(hold * drift);
    },
  };
};
