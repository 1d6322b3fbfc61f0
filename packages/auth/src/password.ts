import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import PQueue from 'p-queue';
import { Unavailable } from '@platform/service-kit/problem';
import { normalPassword } from './password-rules.ts';

export { passwordProblems } from './password-rules.ts';

/** argon2id as OWASP's password storage page recommends it: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export interface PasswordOptions {
  /**
   * Hashes at once. Unless said otherwise one for each core but the one that all other requests
   * need, at most three: they run on libuv's four threads, which files and names need as well.
   */
  concurrency?: number;
  /** How many may wait for their turn (some 10 ms each); 200 unless said otherwise. */
  waiting?: number;
}

export interface Verdict {
  matches: boolean;
  /** The password is right but was hashed with other parameters than today's: hash it anew. */
  rehash: boolean;
}

type Stored = string | undefined | (() => Promise<string | undefined>);

export interface Passwords {
  /** The PHC string to store. `password` has passed `passwordProblems`. */
  hash: (password: string) => Promise<string>;
  /**
   * Compares with what is stored. `stored` is undefined for an unknown user: that takes the same
   * time and never matches. `admit` is awaited when it is this attempt's turn, before anything is
   * computed; when it throws, nothing is (see the login throttle). Then a `stored` that has to be
   * looked up is: a rush of logins must not take the database from everybody else.
   */
  verify: (stored: Stored, password: string, admit?: () => Promise<void>) => Promise<Verdict>;
}

const outdated = (stored: string): boolean => {
  const { memoryCost, timeCost, parallelism } = parseOptions(stored);
  return (
    !stored.startsWith('$argon2id$') ||
    memoryCost !== cost.memoryCost ||
    timeCost !== cost.timeCost ||
    parallelism !== cost.parallelism
  );
};

/** Nobody's password: costs as much to compare with as a real hash. */
const decoy = (): string => {
  const random = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '');
  const { memoryCost, timeCost, parallelism } = cost;
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${random(16)}$${random(32)}`;
};

/**
 * Password hashing behind one bounded queue, because each hash takes a core and 19 MiB for a while.
 * When the queue is full: Unavailable `busy`.
 */
export const createPasswords = ({
  concurrency = Math.max(1, Math.min(availableParallelism() - 1, 3)),
  waiting = 200,
}: PasswordOptions = {}): Passwords => {
  const queue = new PQueue({ concurrency });
  const nobody = decoy();

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    if (queue.size >= waiting)
      throw new Unavailable('busy', 'Too many passwords are being checked; try again shortly.');
    return queue.add(work);
  };

  return {
    hash: async (password) => {
      const normal = normalPassword(password);
      if (normal === undefined) throw new Error('A password was to be hashed that breaks the rules.');
      return inTurn(() => hash(normal, cost));
    },
    verify: async (stored, password, admit) => {
      const normal = normalPassword(password);
      return inTurn(async () => {
        await admit?.();
        if (normal === undefined) return { matches: false, rehash: false };
        const known = typeof stored === 'function' ? await stored() : stored;
        const matches = (await verify(known ?? nobody, normal)) && known !== undefined;
        return { matches, rehash: matches && outdated(known) };
      });
    },
  };
};
