import type { Limiter } from '@platform/service-kit/counter';
import type { TooManyRequests } from '@platform/service-kit/problem';
import { RateLimiterRes } from 'rate-limiter-flexible';

/**
 * Counts `cost` points for a key in one atomic step and returns how many points are left. When there
 * are too few left, throws what `refused` makes of the seconds until the count ends.
 */
export const consume = async (
  limiter: Limiter,
  key: string,
  cost: number,
  refused: (seconds: number) => TooManyRequests,
): Promise<number> => {
  try {
    return (await limiter.consume(key, cost)).remainingPoints;
  } catch (error) {
    throw error instanceof RateLimiterRes ? refused(error.msBeforeNext / 1000) : error;
  }
};
