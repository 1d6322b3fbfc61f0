import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { TooManyRequests } from '@platform/service-kit/problem';
import type { Log } from '@platform/service-kit/log';
import { networksOf } from '@platform/service-kit/network';
import { type Bucket, type CountedAttempt, createBackoff } from './backoff.ts';

export interface ThrottleOptions {
  /** Prefix of the Redis keys: the name of the service. */
  name: string;
  redis: Redis | undefined;
  /** Receives a warning when a wait starts; the warning names the network, never the email. */
  log?: Pick<Log, 'warn'>;
  /** Failures from one network until it must wait; default 100. An IPv6 /56 may have 4 times, a /48 16 times as many. */
  perNetwork?: number;
  /** Failures for one email from unknown networks until all unknown networks must wait; default 100. */
  perAccount?: number;
}

/** The account and the client address of a login attempt. */
export interface Attempt {
  email: string;
  /** Address of the client. */
  address: string | undefined;
  /**
   * Returns whether the account has logged in from this network before. A known account waits only for its own failures on this
   * network. Called when another bucket must wait, and after a failure.
   */
  isKnown: () => Promise<boolean>;
}

/** Login throttle created by `createThrottle`. */
export type Throttle = ReturnType<typeof createThrottle>;

/** Failures in a row for one email from one network until this pair must wait. */
const maxFailuresOfPair = 10;

/** Failures between two waits of a network or an account. */
const failuresBetweenWaits = 10;

/** Hash that identifies an account, or an account on a network, without storing the email. */
const digestOf = (email: string, network = ''): string =>
  createHash('sha256').update(`${email.trim().toLowerCase()}\0${network}`).digest('base64url');

const tooManyFailures = (seconds: number) =>
  new TooManyRequests(seconds, 'Too many failed logins; try again later.');

/**
 * Slows down password guessing with waits that grow (backoff.ts). After ten failures in a row for one email from one network,
 * this pair must wait; after a hundred failures from a network, the network; after a hundred failures for one email, all
 * networks from which its account never logged in. The last two waits do not apply to an account on a network from which it has
 * logged in. An attempt counts as failed before its password is compared; the count is undone when the password is right or was
 * never compared.
 */
export const createThrottle = ({ name, redis, log, perNetwork = 100, perAccount = 100 }: ThrottleOptions) => {
  const backoff = createBackoff(redis);

  /** The buckets of an attempt: the account on this network, the account, and the network in each width. */
  const bucketsOf = (email: string, address: string | undefined) => {
    const networks = networksOf(address);
    const bucket = (
      subject: string,
      id: string,
      maxFailures: number,
      retries = failuresBetweenWaits,
    ): Bucket => ({
      key: `${name}:login:${subject}:${id}`,
      maxFailures,
      failuresBetweenWaits: retries,
    });
    return {
      pair: bucket('pair', digestOf(email, networks[0].name), maxFailuresOfPair, 1),
      account: bucket('account', digestOf(email), perAccount),
      networks: networks.map((network) =>
        bucket('network', network.name, perNetwork * network.factor, failuresBetweenWaits * network.factor),
      ),
    };
  };

  /** Logs the waits that this attempt started. The key contains a network, or the hash of an email. */
  const reportWaits = (buckets: readonly Bucket[], { seconds }: CountedAttempt): void => {
    for (const [index, { key }] of buckets.entries())
      if (seconds[index]) log?.warn({ bucket: key, seconds: seconds[index] }, 'too many failed logins');
  };

  /** Counts the attempt in all buckets. A known account skips buckets that must wait, except `buckets[0]`, its own on this network. */
  const count = async (
    buckets: readonly Bucket[],
    isKnown: () => Promise<boolean>,
  ): Promise<CountedAttempt> => {
    let countedBuckets = buckets;
    let counted = await backoff.count(countedBuckets);
    let isKnownAccount: boolean | undefined;
    // Repeats, because another bucket may have started to wait in between.
    while (counted.refused && !counted.seconds[0] && (isKnownAccount ??= await isKnown())) {
      const { seconds } = counted;
      countedBuckets = countedBuckets.filter((_, index) => !seconds[index]);
      counted = await backoff.count(countedBuckets);
    }
    if (counted.refused) throw tooManyFailures(Math.max(...counted.seconds));
    reportWaits(countedBuckets, counted);
    return counted;
  };

  return {
    /**
     * Runs one login attempt. `verify` calls `admit` shortly before it compares the credentials, and returns undefined when they
     * are wrong. Throws TooManyRequests instead of comparing when the attempt must wait.
     */
    attempt: async <T>(
      { email, address, isKnown }: Attempt,
      verify: (admit: () => Promise<void>) => Promise<T | undefined>,
    ): Promise<T | undefined> => {
      const { pair, account, networks } = bucketsOf(email, address);
      let counted: CountedAttempt | undefined;
      const admit = async (): Promise<void> => {
        counted = await count([pair, account, ...networks], isKnown);
      };
      let result;
      try {
        result = await verify(admit);
        // `verify` may refuse without asking; that counts too.
        if (result === undefined && counted === undefined) await admit();
      } catch (error) {
        await counted?.undo();
        throw error;
      }
      // Both are sent in one round trip.
      if (result !== undefined) await Promise.all([counted?.undo(), backoff.clear([pair.key])]);
      // Failures from a known network do not count for the account. Not awaited, so that the response time does not reveal whether the account has logged in from the network.
      else if (await isKnown().catch(() => false)) void counted?.undo([account.key]);
      return result;
    },
    /** Ends the waits of an account, on this network and on unknown networks. */
    liftAccount: async ({ address, email }: Pick<Attempt, 'address' | 'email'>): Promise<void> => {
      const { pair, account } = bucketsOf(email, address);
      await backoff.clear([pair.key, account.key]);
    },
    /** Ends the waits of the networks of an address. With an email, also those of its account, as `liftAccount` does. */
    lift: async ({ address, email }: { address: string; email?: string | undefined }): Promise<void> => {
      const { pair, account, networks } = bucketsOf(email ?? '', address);
      const accounts = email === undefined ? [] : [pair, account];
      await backoff.clear([...networks, ...accounts].map(({ key }) => key));
    },
  };
};
