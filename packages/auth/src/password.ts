import { AsyncResource } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import { createFairQueue } from '@platform/service-kit/fair-queue';
import { networkPathOf } from '@platform/service-kit/network';
import { Unavailable } from '@platform/service-kit/problem';
import { waitUncounted } from '@platform/service-kit/request-scope';
import PQueue from 'p-queue';

const minLength = 8;
const maxLength = 128;
/** NFKC can shorten a text, but never one with more UTF-16 units than this to `maxLength` characters. */
const maxUnits = maxLength * 8;

/**
 * The 3,000 most common leaked passwords of at least eight characters, in lower case, most common
 * first. Source: SecLists, Passwords/Common-Credentials/10-million-password-list-top-1000000.txt (MIT).
 */
const commonPasswords = new Set(
  readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n'),
);

const substitutes: Record<string, string> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
  // These stand for i and for l, so l counts as i.
  '1': 'i',
  '!': 'i',
  '|': 'i',
  l: 'i',
};

/** Up to this many digits and signs at the end of a password are ignored. */
const maxSuffix = 4;
/** Shorter cores are not compared: too many passwords begin with them. */
const minCore = 6;

/** Undoes the usual changes of a lower-case password: `p@ssw0rd` and `password1!` have the core of `password`. */
const coreOf = (folded: string): string => {
  let end = folded.length;
  while (end > folded.length - maxSuffix && /[^a-z]/.test(folded[end - 1] ?? 'a')) end--;
  return folded.slice(0, end).replaceAll(/[@430$571!|l]/g, (sign) => substitutes[sign] ?? sign);
};

const commonCores = new Set([...commonPasswords].map(coreOf).filter((core) => core.length >= minCore));

/**
 * Converts a password to the form that is hashed: NFKC, so that every keyboard produces the same password.
 * Returns undefined when the text can't be a password: it is not well-formed Unicode, or far too long.
 */
const normalizePassword = (password: string): string | undefined =>
  password.length <= maxUnits && password.isWellFormed() ? password.normalize('NFKC') : undefined;

/**
 * The rules that a new password breaks, as messages; empty when it is acceptable. The email address may have any length and
 * is not normalized, because normalizing combining marks takes time by the square of their number; valid ones are ASCII.
 */
export const passwordProblems = (password: string, email: string): string[] => {
  if (!password.isWellFormed()) return ['must be well-formed Unicode'];
  const problems: string[] = [];
  const normal = normalizePassword(password);
  const length = normal === undefined ? Infinity : Array.from(normal).length;
  if (length < minLength) problems.push(`must have at least ${minLength} characters`);
  if (length > maxLength) problems.push(`must have at most ${maxLength} characters`);
  const folded = normal?.toLowerCase();
  if (folded === email.trim().toLowerCase()) problems.push('must not be the email address');
  if (normal?.trim() === '' && length >= minLength) problems.push('must not be blank');
  if (folded !== undefined && (commonPasswords.has(folded) || commonCores.has(coreOf(folded))))
    problems.push('is one of the most common passwords');
  return problems;
};

/** argon2id as OWASP's Password Storage Cheat Sheet recommends: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export interface PasswordOptions {
  /**
   * Number of hashes computed at the same time. The default leaves one core for all other requests, and is
   * at most two, because hashes occupy libuv's four threads, which file access and DNS need as well.
   */
  concurrency?: number;
  /** Maximum number of waiting hashes, about 30 ms each; default 200. Above it, the client with most of them loses one. */
  waiting?: number;
  /** Hashes that may start in one second; unlimited by default. */
  perSecond?: number;
}

export interface Verdict {
  matches: boolean;
  /** The password is right, but its hash has outdated parameters: hash it again. */
  rehash: boolean;
}

type Stored = string | undefined | (() => Promise<string | undefined>);

/** The client whose password is hashed. Networks take turns in the queue, and emails within a network. */
export interface HashClient {
  address: string | undefined;
  email: string;
}

/** Return type of `createPasswords`. */
export type Passwords = ReturnType<typeof createPasswords>;

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

/** Number of stored hashes that are looked up before their turn, so that hashing does not wait for the database. */
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
}: PasswordOptions = {}) => {
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

  /** Runs `work` when its client has a turn. A waiting request uses no resources, so it does not count as in progress. */
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
          // Another request may start it, so `bind` keeps the context of this one, which holds its deadline.
          waiting.push(groupsOf(client), { start: AsyncResource.bind(start), refuse });
          startNext();
          if (waiting.size > maxWaiting) waiting.dropLargest()?.refuse();
        }),
    );

  return {
    /** Returns the PHC string to store. `password` must have passed `passwordProblems`. */
    hash: async (password: string, client = nobody): Promise<string> => {
      const normal = normalizePassword(password);
      if (normal === undefined) throw new Error('The password to hash breaks the password rules.');
      return enqueue(client, () => hashing.add(() => hash(normal, cost)));
    },
    /**
     * Compares a password with a stored hash. `stored` is undefined for an unknown user: the comparison takes the same time
     * and never matches. A `stored` function is called when the turn of this client is near, for few at a time, so that
     * many waiting logins don't occupy the database; when it throws, nothing is computed (see the login throttle). While
     * it waits, others are hashed.
     */
    verify: async (stored: Stored, password: string, client = nobody): Promise<Verdict> => {
      const normal = normalizePassword(password);
      return enqueue(client, async () => {
        const real = typeof stored === 'function' ? await stored() : stored;
        if (normal === undefined) return { matches: false, rehash: false };
        const matches = (await hashing.add(() => verify(real ?? dummyHash, normal))) && real !== undefined;
        return { matches, rehash: matches && isOutdated(real) };
      });
    },
  };
};
