import { AsyncResource } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import PQueue from 'p-queue';
import { networkPathOf } from '@platform/service-kit/network';
import { Unavailable } from '@platform/service-kit/problem';
import { waitUncounted } from '@platform/service-kit/request-scope';
import { createFairQueue } from '@platform/service-kit/fair-queue';
import { normalizePassword } from './password-rules.ts';

export { passwordProblems } from './password-rules.ts';

/** argon2id as OWASP's Password Storage Cheat Sheet recommends: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export interface PasswordOptions {
  /**
   * Hashes at once. The default leaves one core for all other requests, and is at most two, because
   * hashes occupy libuv's four threads, which file access and DNS need as well.
   */
  concurrency?: number;
  /** How many may wait for their turn, some 30 ms each; default 200. Beyond it, the client that has most loses one. */
  waiting?: number;
  /** Hashes that may start in one second; unlimited by default. */
  perSecond?: number;
}

export interface Verdict {
  matches: boolean;
  /** The password is right but its hash has other parameters than today's: hash it again. */
  rehash: boolean;
}

type Stored = string | undefined | (() => Promise<string | undefined>);

/** For whom a password is hashed. Networks take turns in the queue, and in a network its emails. */
export interface HashClient {
  address: string | undefined;
  email: string;
}

export interface Passwords {
  /** Returns the PHC string to store. `password` must have passed `passwordProblems`. */
  hash: (password: string, client?: HashClient) => Promise<string>;
  /**
   * Compares a password with a stored hash. `stored` is undefined for an unknown user: the comparison takes the same time
   * and never matches. A `stored` function is called when the turn of this client is near, for few at a time, so that
   * many waiting logins don't occupy the database; when it throws, nothing is computed (see the login throttle). While
   * it waits, others are hashed.
   */
  verify: (stored: Stored, password: string, client?: HashClient) => Promise<Verdict>;
}

const isOutdated = (stored: string): boolean => {
  const { memoryCost, timeCost, parallelism } = parseOptions(stored);
  return (
    !stored.startsWith('$argon2id$') ||
    memoryCost !== cost.memoryCost ||
    timeCost !== cost.timeCost ||
    parallelism !== cost.parallelism
  );
};

/** A hash that no password matches, and that costs as much to compare with as a real one. */
const createDummyHash = (): string => {
  const random = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '');
  const { memoryCost, timeCost, parallelism } = cost;
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${random(16)}$${random(32)}`;
};

const nobody: HashClient = { address: undefined, email: '' };

/** The groups of a client in the queue, from its widest network to its email. */
const groupsOf = ({ address, email }: HashClient): string[] => [...networkPathOf(address), email];

/** Clients whose stored hash is looked up beside the hashes that are computed, so that these need not wait for it. */
const lookahead = 2;

/** A client that waits for its turn. */
interface Waiting {
  start: () => Promise<void>;
  refuse: () => void;
}

/**
 * Password hashing behind a bounded, fair queue, because each hash takes a core and 19 MiB for a while.
 * Throws Unavailable `busy` when the queue is full. Work of different importance (logins and
 * registrations) gets a queue each.
 */
export const createPasswords = ({
  concurrency = Math.max(1, Math.min(availableParallelism() - 1, 2)),
  waiting: maxWaiting = 200,
  perSecond = Infinity,
}: PasswordOptions = {}): Passwords => {
  const waiting = createFairQueue<Waiting>();
  const hashing = new PQueue({ concurrency, interval: 1000, intervalCap: perSecond });
  const dummyHash = createDummyHash();
  let started = 0;

  const startNext = (): void => {
    while (started < concurrency + lookahead && waiting.size > 0) {
      started++;
      void waiting.shift()?.start();
    }
  };

  /** Runs `work` when its client has a turn. A request that waits takes nothing from others, so it does not count. */
  const enqueue = <T>(client: HashClient, work: () => Promise<T>): Promise<T> =>
    waitUncounted(
      () =>
        new Promise<T>((resolve, reject) => {
          const start = async (): Promise<void> => {
            await work().then(resolve, reject);
            started--;
            startNext();
          };
          const refuse = () =>
            reject(new Unavailable('busy', 'Too many passwords are being hashed; try again shortly.'));
          // Another request starts it, whose deadline is not that of this one.
          waiting.push(groupsOf(client), { start: AsyncResource.bind(start), refuse });
          startNext();
          if (waiting.size > maxWaiting) waiting.dropLargest()?.refuse();
        }),
    );

  return {
    hash: async (password, client = nobody) => {
      const normal = normalizePassword(password);
      if (normal === undefined) throw new Error('The password to hash breaks the password rules.');
      return enqueue(client, () => hashing.add(() => hash(normal, cost)));
    },
    verify: async (stored, password, client = nobody) => {
      const normal = normalizePassword(password);
      return enqueue(client, async () => {
        const known = typeof stored === 'function' ? await stored() : stored;
        if (normal === undefined) return { matches: false, rehash: false };
        const matches = (await hashing.add(() => verify(known ?? dummyHash, normal))) && known !== undefined;
        return { matches, rehash: matches && isOutdated(known) };
      });
    },
  };
};
