import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { TooManyRequests } from '@platform/service-kit/problem';
import type { Log } from '@platform/service-kit/log';
import { networksOf } from '@platform/service-kit/network';
import { type Bucket, type Counted, createBackoff } from './backoff.ts';

export interface ThrottleOptions {
  /** Start of the Redis keys: the service's name. */
  name: string;
  redis: Redis | undefined;
  /** Gets a warning when a wait starts; it names the network, never the email. */
  log?: Pick<Log, 'warn'>;
  /** Failures from one network before it must wait; default 100. An IPv6 /56 may have 4, a /48 16 times as many. */
  perNetwork?: number;
  /** Failures for one email from networks that its account does not know, before these must wait; default 100. */
  perAccount?: number;
}

/** Who tries to log in. */
export interface Attempt {
  email: string;
  /** The client's address. */
  address: string | undefined;
  /**
   * Whether this account has logged in from this network before: then it waits only for failures of its own from there.
   * Asked when something else must wait, and after a failure.
   */
  isKnown: () => Promise<boolean>;
}

/** What `createThrottle` makes. */
export type Throttle = ReturnType<typeof createThrottle>;

/** Failures in a row for one email from one network before it must wait. */
const inARow = 10;

/** Attempts between two waits of a network or an account. */
const retries = 10;

/** Identifies an account, or an account from a network, without storing the email. */
const digestOf = (email: string, network = ''): string =>
  createHash('sha256').update(`${email.trim().toLowerCase()}\0${network}`).digest('base64url');

const refused = (seconds: number) => new TooManyRequests(seconds, 'Too many failed logins; try again later.');

/**
 * Slows down password guessing. These must wait, longer each time (backoff.ts): one email from one network after ten
 * failures in a row; a network after a hundred failures; and after a hundred failures for one email, all networks that
 * its account does not know. The last two never keep an account from logging in from a network that it knows. An
 * attempt counts as failed before its password is compared; the count is taken back when the password is right or was
 * never compared.
 */
export const createThrottle = ({ name, redis, log, perNetwork = 100, perAccount = 100 }: ThrottleOptions) => {
  const backoff = createBackoff(redis);

  /** The bucket of the account from this network, the one of the account, and those of the networks. */
  const bucketsOf = (email: string, address: string | undefined) => {
    const networks = networksOf(address);
    const bucket = (subject: string, id: string, free: number, factor = retries): Bucket => ({
      key: `${name}:login:${subject}:${id}`,
      free,
      retries: factor,
    });
    return {
      pair: bucket('pair', digestOf(email, networks[0].name), inARow, 1),
      account: bucket('account', digestOf(email), perAccount),
      networks: networks.map((network) =>
        bucket('network', network.name, perNetwork * network.factor, retries * network.factor),
      ),
    };
  };

  /** Logs the waits that begin; the key names a network, or an email by its hash. */
  const reportWaits = (buckets: readonly Bucket[], { seconds }: Counted): void => {
    for (const [at, { key }] of buckets.entries())
      if (seconds[at]) log?.warn({ bucket: key, seconds: seconds[at] }, 'too many failed logins');
  };

  /** Counts the attempt in all buckets, for a known account without those that must wait; the first one has no exception. */
  const count = async (buckets: readonly Bucket[], isKnown: () => Promise<boolean>): Promise<Counted> => {
    let counting = buckets;
    let counted = await backoff.count(counting);
    let isExcepted: boolean | undefined;
    // Again, because another bucket may have begun to wait in between.
    while (counted.refused && !counted.seconds[0] && (isExcepted ??= await isKnown())) {
      const { seconds } = counted;
      counting = counting.filter((_, at) => !seconds[at]);
      counted = await backoff.count(counting);
    }
    if (counted.refused) throw refused(Math.max(...counted.seconds));
    reportWaits(counting, counted);
    return counted;
  };

  return {
    /**
     * Runs one login attempt. `verify` returns undefined when the credentials are wrong, and calls `admit` when they are
     * about to be compared. Throws TooManyRequests instead of comparing too often.
     */
    attempt: async <T>(
      { email, address, isKnown }: Attempt,
      verify: (admit: () => Promise<void>) => Promise<T | undefined>,
    ): Promise<T | undefined> => {
      const { pair, account, networks } = bucketsOf(email, address);
      let counted: Counted | undefined;
      const admit = async (): Promise<void> => {
        counted = await count([pair, account, ...networks], isKnown);
      };
      let result;
      try {
        result = await verify(admit);
        if (result === undefined && counted === undefined) await admit();
      } catch (error) {
        await counted?.undo();
        throw error;
      }
      // Sent together, which is one round trip.
      if (result !== undefined) await Promise.all([counted?.undo(), backoff.clear([pair.key])]);
      // Not awaited, so that the time of the answer does not show whether the account knows the network.
      else if (await isKnown().catch(() => false)) void counted?.undo([account.key]);
      return result;
    },
    /** Ends the wait of an account, from a network and from those that it does not know. */
    liftAccount: async ({ address, email }: Pick<Attempt, 'address' | 'email'>): Promise<void> => {
      const { pair, account } = bucketsOf(email, address);
      await backoff.clear([pair.key, account.key]);
    },
    /** Ends the waits of the networks of an address and, with an email, of that account, from there and from elsewhere. */
    lift: async ({ address, email }: { address: string; email?: string | undefined }): Promise<void> => {
      const { pair, account, networks } = bucketsOf(email ?? '', address);
      const accounts = email === undefined ? [] : [pair, account];
      await backoff.clear([...networks, ...accounts].map(({ key }) => key));
    },
  };
};
