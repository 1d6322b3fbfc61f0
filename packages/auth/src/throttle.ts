import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { TooManyRequests } from '@platform/service-kit/problem';
import { networkOf } from '@platform/service-kit/network';

export interface ThrottleOptions {
  /** Prefix of the keys: the service's name. */
  name: string;
  redis: Redis | undefined;
  /** Failures in a row for one email and address; 10 unless said otherwise. */
  inARow?: number;
  /** How long such a pair is then refused, in seconds; 15 minutes unless said otherwise. */
  pauseSeconds?: number;
  /** Failures a day for one address; 100 unless said otherwise. */
  aDay?: number;
}

/** Who tries to log in. */
export interface Attempt {
  email: string;
  /** The client's address. */
  address: string | undefined;
}

/**
 * Runs one login attempt. `verify` gives undefined when the credentials are wrong, and calls
 * `admit` right before it compares them. Throws TooManyRequests instead of comparing too often.
 */
export type Throttle = <T>(
  attempt: Attempt,
  verify: (admit: () => Promise<void>) => Promise<T | undefined>,
) => Promise<T | undefined>;

const day = 86_400;

/** One counter, shared through Redis; while that is away each process counts for itself. */
const createCounter = (
  redis: Redis | undefined,
  keyPrefix: string,
  points: number,
  blockDuration: number,
) => {
  const window = { keyPrefix, points, duration: day, blockDuration };
  const memory = new RateLimiterMemory(window);
  return redis === undefined
    ? memory
    : new RateLimiterRedis({
        ...window,
        storeClient: redis,
        insuranceLimiter: memory,
        rejectIfRedisNotReady: true,
      });
};
type Counter = ReturnType<typeof createCounter>;

const refuse = ({ msBeforeNext }: RateLimiterRes): never => {
  throw new TooManyRequests(msBeforeNext / 1000, 'Too many failed logins; try again later.');
};

/** Counts one attempt as failed. One atomic step, so that attempts at the same instant can't all pass. */
const count = async (counter: Counter, key: string): Promise<void> => {
  await counter.consume(key).catch((error: unknown) => {
    if (error instanceof RateLimiterRes) refuse(error);
    throw error;
  });
};

/** Refuses at once where nothing is left, before the attempt waits for its turn. */
const check = async (counter: Counter, key: string): Promise<void> => {
  const found = await counter.get(key);
  if (found !== null && found.consumedPoints > counter.points) refuse(found);
};

/**
 * Slows down guessing: so many failures in a row for one email from one address, so many a day from
 * one address. An attempt counts as failed before its password is compared and is given back when
 * it was right, or was never compared. Keys hold a hash of the email, not the email.
 */
export const createThrottle = ({
  name,
  redis,
  inARow = 10,
  pauseSeconds = 900,
  aDay = 100,
}: ThrottleOptions): Throttle => {
  const pairs = createCounter(redis, `${name}:login-pair`, inARow, pauseSeconds);
  const addresses = createCounter(redis, `${name}:login-address`, aDay, 0);

  return async ({ email, address }, verify) => {
    const network = networkOf(address);
    const person = `${email.trim().toLowerCase()}\0${network}`;
    const pair = createHash('sha256').update(person).digest('base64url');
    let admitted = false;
    const giveBack = () => addresses.reward(network);

    await Promise.all([check(addresses, network), check(pairs, pair)]);
    const admit = async (): Promise<void> => {
      await count(addresses, network).catch(async (error: unknown) => {
        await giveBack();
        throw error;
      });
      await count(pairs, pair).catch(async (error: unknown) => {
        await giveBack();
        throw error;
      });
      admitted = true;
    };

    let result;
    try {
      result = await verify(admit);
    } catch (error) {
      if (admitted) await Promise.all([giveBack(), pairs.reward(pair)]);
      throw error;
    }
    if (result === undefined) {
      if (!admitted) await admit();
    } else if (admitted) await Promise.all([giveBack(), pairs.delete(pair)]);
    return result;
  };
};
