import { TooManyRequests } from '@platform/service-kit/problem';
import { createBatchedRateCounter } from '@platform/service-kit/rate-counter';
import { currentRequest } from '@platform/service-kit/request-scope';
import type { Redis } from 'ioredis';

const sixHours = 21_600;
/** In bytes: some hundred tasks. */
const own = 131_072;

/**
 * Bounds what the accounts of a network store in six hours: tasks, and answers to Idempotency-Keys. Anybody may have many
 * accounts, and a disk that is full stops the databases of all services. Each account stores a little in any case, so that a
 * neighbour who uses up what the network has keeps nobody from ordinary work. The function is called with the user and a number of
 * bytes before they are stored, and throws TooManyRequests.
 * @param megabytes of JSON, by WRITTEN_MB_PER_NETWORK
 */
export const createWrittenLimit = (redis: Redis | undefined, megabytes: number) => {
  const counter = (of: string, points: number) =>
    createBatchedRateCounter({ redis, prefix: `task-manager:written-${of}`, points, seconds: sixHours });
  const users = counter('user', own);
  const networks = counter('network', megabytes * 2 ** 20);
  return async (userId: string, bytes: number): Promise<void> => {
    if (bytes <= (await users.take(userId)).remainingPoints) {
      users.add(userId, bytes - 1);
      return;
    }
    const network = currentRequest()?.network ?? '';
    const { remainingPoints, msBeforeNext } = await networks.take(network);
    if (bytes > remainingPoints) {
      const detail = `Your network may store ${megabytes} MB of tasks in six hours, beside the first 128 kB of each account.`;
      throw new TooManyRequests(msBeforeNext / 1000, detail);
    }
    networks.add(network, bytes - 1);
  };
};
