import type { Limiter } from '@platform/service-kit/counter';
import type { TooManyRequests } from '@platform/service-kit/problem';
import { RateLimiterRes } from 'rate-limiter-flexible';

/**
 * Takes `cost` points from a key in one atomic step and returns how many are left. When too few are left, throws the
 * error that `refused` creates from the number of seconds until the count ends.
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
