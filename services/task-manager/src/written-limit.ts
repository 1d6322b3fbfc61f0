import type { IncomingMessage } from 'node:http';
import { widestNetworkOf } from '@platform/service-kit/network';
import { TooManyRequests } from '@platform/service-kit/problem';
import { createBatchedRateCounter } from '@platform/service-kit/rate-counter';
import type { Redis } from 'ioredis';

const day = 86_400;

/**
 * Bounds what the accounts of a network send in a day. Anybody may have many, each with many tasks, and a disk that is full stops
 * the databases of all services. The function throws TooManyRequests.
 * @param megabytes of bodies, by WRITTEN_MB_PER_NETWORK
 */
export const createWrittenLimit = (redis: Redis | undefined, megabytes: number) => {
  const points = megabytes * 2 ** 20;
  const written = createBatchedRateCounter({ redis, prefix: 'task-manager:written', points, seconds: day });
  return async ({ headers }: IncomingMessage, address: string | undefined): Promise<void> => {
    const bytes = Number(headers['content-length'] ?? 0);
    if (bytes === 0) return;
    const network = widestNetworkOf(address);
    const { consumedPoints, msBeforeNext } = await written.take(network);
    if (consumedPoints > points)
      throw new TooManyRequests(msBeforeNext / 1000, `Your network may send ${megabytes} MB in a day.`);
    written.add(network, bytes - 1);
  };
};
