import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { TooManyRequests } from '@platform/service-kit/problem';
import type { Log } from '@platform/service-kit/log';
import { networkOf } from '@platform/service-kit/network';
import { createBackoff } from './backoff.ts';

export interface ThrottleOptions {
  /** Start of the Redis keys: the service's name. */
  name: string;
  redis: Redis | undefined;
  /** Gets a warning when a wait starts; it names the network, never the email. */
  log?: Pick<Log, 'warn'>;
  /** Failures in a row for one email from one network before it must wait; default 10. */
  inARow?: number;
  /** Failures from one network before it must wait; a multiple of 10; default 100. */
  perNetwork?: number;
}

/** Who tries to log in. */
export interface Attempt {
  email: string;
  /** The client's address. */
  address: string | undefined;
  /**
   * Whether this account has logged in from this network before. Asked only while the network must
   * wait: such an account is let through.
   */
  isKnown: () => Promise<boolean>;
}

export interface Throttle {
  /**
   * Runs one login attempt. `verify` returns undefined when the credentials are wrong, and calls
   * `admit` right before it compares them. Throws TooManyRequests instead of comparing too often.
   */
  attempt: <T>(
    attempt: Attempt,
    verify: (admit: () => Promise<void>) => Promise<T | undefined>,
  ) => Promise<T | undefined>;
  /** Ends the wait of a network and, with an email, of that account from that network. */
  lift: (who: { address: string; email?: string | undefined }) => Promise<void>;
}

/** Identifies an account from a network without storing the email. */
const pairOf = (email: string, network: string): string =>
  createHash('sha256').update(`${email.trim().toLowerCase()}\0${network}`).digest('base64url');

/**
 * Slows down password guessing. After ten failures in a row, one email from one network waits; after
 * a hundred failures, a network waits for all accounts that never logged in from it. Waits grow
 * (backoff.ts). An attempt counts as failed before its password is compared; the count is taken back
 * when the password is right or was never compared.
 */
export const createThrottle = ({
  name,
  redis,
  log,
  inARow = 10,
  perNetwork = 100,
}: ThrottleOptions): Throttle => {
  const warn = (what: string) => (key: string, seconds: number) =>
    log?.warn({ [what]: key, seconds }, 'too many failed logins');
  const prefix = `${name}:login`;
  const pairs = createBackoff({
    redis,
    prefix: `${prefix}-pair`,
    free: inARow,
    retries: 1,
    onWait: warn('pair'),
  });
  const networks = createBackoff({
    redis,
    prefix: `${prefix}-network`,
    free: perNetwork,
    retries: 10,
    onWait: warn('network'),
  });

  return {
    attempt: async ({ email, address, isKnown }, verify) => {
      const network = networkOf(address);
      const pair = pairOf(email, network);
      const unlessKnown = async (error: unknown): Promise<undefined> => {
        if (!(error instanceof TooManyRequests) || !(await isKnown())) throw error;
      };
      let undo: (() => Promise<unknown>)[] = [];
      const takeBack = () => Promise.all(undo.map((step) => step()));

      await pairs.check(pair);
      await networks.check(network).catch(unlessKnown);
      const admit = async (): Promise<void> => {
        const undoPair = await pairs.count(pair);
        undo = [undoPair];
        const undoNetwork = await networks.count(network).catch(unlessKnown);
        if (undoNetwork !== undefined) undo.push(undoNetwork);
      };

      let result;
      try {
        result = await verify(admit);
        if (result === undefined && undo.length === 0) await admit();
      } catch (error) {
        await takeBack();
        throw error;
      }
      if (result !== undefined) {
        await takeBack();
        await pairs.clear(pair);
      }
      return result;
    },
    lift: async ({ address, email }) => {
      const network = networkOf(address);
      await networks.clear(network);
      if (email !== undefined) await pairs.clear(pairOf(email, network));
    },
  };
};
