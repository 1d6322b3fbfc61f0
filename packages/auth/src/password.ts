import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import PQueue from 'p-queue';
import { Unavailable } from '@platform/service-kit/problem';
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
  /** How many may wait for their turn, some 30 ms each; default 200. */
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

export interface Passwords {
  /** Returns the PHC string to store. `password` must have passed `passwordProblems`. */
  hash: (password: string) => Promise<string>;
  /**
   * Compares a password with a stored hash. `stored` is undefined for an unknown user: the comparison
   * takes the same time and never matches. `admit` is awaited when this attempt's turn has come; when
   * it throws, nothing is computed (see the login throttle). A `stored` function is called after that,
   * so that many waiting logins don't occupy the database.
   */
  verify: (stored: Stored, password: string, admit?: () => Promise<void>) => Promise<Verdict>;
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

/**
 * Password hashing behind a bounded queue, because each hash takes a core and 19 MiB for a while.
 * Throws Unavailable `busy` when the queue is full. Work of different importance (logins and
 * registrations) gets a queue each.
 */
export const createPasswords = ({
  concurrency = Math.max(1, Math.min(availableParallelism() - 1, 2)),
  waiting = 200,
  perSecond = Infinity,
}: PasswordOptions = {}): Passwords => {
  const queue = new PQueue({ concurrency, interval: 1000, intervalCap: perSecond });
  const dummyHash = createDummyHash();

  const enqueue = <T>(work: () => Promise<T>): Promise<T> => {
    if (queue.size >= waiting)
      throw new Unavailable('busy', 'Too many passwords are being hashed; try again shortly.');
    return queue.add(work);
  };

  return {
    hash: async (password) => {
      const normal = normalizePassword(password);
      if (normal === undefined) throw new Error('The password to hash breaks the password rules.');
      return enqueue(() => hash(normal, cost));
    },
    verify: async (stored, password, admit) => {
      const normal = normalizePassword(password);
      return enqueue(async () => {
        await admit?.();
        if (normal === undefined) return { matches: false, rehash: false };
        const known = typeof stored === 'function' ? await stored() : stored;
        const matches = (await verify(known ?? dummyHash, normal)) && known !== undefined;
        return { matches, rehash: matches && isOutdated(known) };
      });
    },
  };
};
