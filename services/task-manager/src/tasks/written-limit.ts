import { TooManyRequests } from '@platform/service-kit/problem';
import { createBatchedRateCounter } from '@platform/service-kit/rate-counter';
import { currentRequest } from '@platform/service-kit/request-scope';
import type { Redis } from 'ioredis';

const sixHours = 21_600;

/**
 * Bounds what the accounts of a network store in tasks in six hours. Anybody may have many, each with many tasks, and a disk that is
 * full stops the databases of all services. The function is called before a task is written, and throws TooManyRequests.
 * @param megabytes of JSON, by WRITTEN_MB_PER_NETWORK
 */
export const createWrittenLimit = (redis: Redis | undefined, megabytes: number) => {
  const points = megabytes * 2 ** 20;
  const prefix = 'task-manager:written';
  const written = createBatchedRateCounter({ redis, prefix, points, seconds: sixHours });
  return async (task: object): Promise<void> => {
    const network = currentRequest()?.network ?? '';
    const { consumedPoints, msBeforeNext } = await written.take(network);
    if (consumedPoints > points) {
      const detail = `Your network may store ${megabytes} MB of tasks in six hours.`;
      throw new TooManyRequests(msBeforeNext / 1000, detail);
    }
    written.add(network, Buffer.byteLength(JSON.stringify(task)) - 1);
  };
};
