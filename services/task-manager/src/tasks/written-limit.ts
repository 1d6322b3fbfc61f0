import { TooManyRequests } from '@platform/service-kit/problem';
import { createBatchedRateCounter } from '@platform/service-kit/rate-limit';
import { currentRequest } from '@platform/service-kit/request-scope';
import type { Redis } from 'ioredis';

const sixHours = 21_600;
/** What each account may store beside its network, in bytes: some hundred small tasks. */
const own = 2 ** 18;
/** The same of all accounts together. */
const ownOfAll = 2 ** 30;
/** Of each row and its entries in indexes, beside its JSON. */
const rowBytes = 1000;

/** Of what is about to be stored, as JSON. */
export const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

type Counter = ReturnType<typeof createBatchedRateCounter>;

/** Takes the bytes if they are left, and what is left otherwise stays. */
const take = async (counter: Counter, key: string, bytes: number, factor = 1) => {
  const { remainingPoints, msBeforeNext } = await counter.take(key, factor);
  const isTaken = bytes <= remainingPoints;
  if (isTaken) counter.add(key, bytes - 1);
  return { isTaken, msBeforeNext };
};

/**
 * Bounds what the accounts of a network store in six hours: tasks, and answers to Idempotency-Keys. Anybody may have many
 * accounts, and a disk that is full stops the databases of all services. Each account stores a little in any case, so that a
 * neighbour who uses up what the network has keeps nobody from ordinary work. The function is called with the user and the bytes
 * of JSON before they are stored, and throws TooManyRequests. Source: docs/adr/0127.
 * @param megabytes by WRITTEN_MB_PER_NETWORK
 */
export const createWrittenLimit = (redis: Redis | undefined, megabytes: number) => {
  const counter = (of: string, points: number): Counter =>
    createBatchedRateCounter({ redis, prefix: `task-manager:written-${of}`, points, seconds: sixHours });
  const users = counter('user', own);
  const all = counter('own', ownOfAll);
  const networks = counter('network', megabytes * 2 ** 20);
  return async (userId: string, json: number): Promise<void> => {
    const bytes = json + rowBytes;
    if ((await take(users, userId, bytes)).isTaken && (await take(all, '', bytes)).isTaken) return;
    // An IPv6 /56 may have 4, a /48 16 times as many as a /64.
    for (const [at, network] of (currentRequest()?.client() ?? ['']).slice(0, -1).toReversed().entries()) {
      const { isTaken, msBeforeNext } = await take(networks, network, bytes, 4 ** at);
      if (isTaken) continue;
      const detail = `Your network may store ${megabytes} MB of tasks in six hours, beside the first 256 kB of each account.`;
      throw new TooManyRequests(msBeforeNext / 1000, detail);
    }
  };
};
