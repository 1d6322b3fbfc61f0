import { createLru } from '@platform/service-kit/lru';
import { awaitSharedLookup } from '@platform/service-kit/queue-turns';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import { equal } from './equal.ts';

export interface LookupCacheOptions<Row> {
  /** Looks a credential up by its hash. `undecided`: its validity cannot be determined now. */
  find(hash: string): Promise<Row | 'undecided' | undefined>;
  hashOf(row: Row): string;
  isValid(row: Row): boolean;
  /** Maximum number of valid credentials in the cache, and of refused ones. */
  maxCredentials: number;
  /** How long an answer is used, from the start of its query. */
  answerMs: number;
  /** How long a credential is remembered as valid. */
  rememberMs: number;
  /** Called when a credential becomes valid, gets another row, or becomes invalid. */
  onChange?(before: Row | undefined, after: Row | undefined): void;
}

/** The result of a look-up. `unknown`: the credential was never issued; `invalid`: it was issued but is no longer valid. */
export type Lookup<Row> = { state: 'valid'; row: Row } | { state: 'unknown' | 'invalid' | 'undecided' };

/** The look-up that all requests with a credential share until its result expires. */
interface Entry<Row> {
  /** The running or completed look-up; undefined if it failed. */
  query: Promise<Lookup<Row>> | undefined;
  /** Start time of the look-up whose result is cached, as `performance.now()`. */
  since: number;
}

/** Refusals are cached longer than valid results, because no credential that was already sent is issued later. */
const refusedMs = 60_000;

/** Creates a cache of credential look-ups by hash. Failed and undecided look-ups are not cached. */
export const createLookupCache = <Row extends {}>(options: LookupCacheOptions<Row>) => {
  const { find, hashOf, isValid, maxCredentials, answerMs, rememberMs, onChange } = options;
  const answers = createLru<string, Entry<Row>>(maxCredentials);
  const valid = createLru<string, Row>(maxCredentials, rememberMs);
  // Separate from the valid ones, so that a flood of unknown credentials evicts none of them.
  const refused = createLru<string, Lookup<Row>>(maxCredentials, refusedMs);

  const lookupOf = (hash: string, result: Row | 'undecided' | undefined): Lookup<Row> => {
    if (result === 'undecided') {
      const row = valid.get(hash);
      return row === undefined ? { state: 'undecided' } : { state: 'valid', row };
    }
    if (result === undefined || !equal(hashOf(result), hash)) return { state: 'unknown' };
    return isValid(result) ? { state: 'valid', row: result } : { state: 'invalid' };
  };
  const remember = (hash: string, lookup: Lookup<Row>): void => {
    const before = valid.get(hash);
    if (lookup.state === 'valid') {
      onChange?.(before, lookup.row);
      valid.set(hash, lookup.row);
      refused.delete(hash);
    } else {
      if (before !== undefined) onChange?.(before, undefined);
      valid.delete(hash);
      refused.set(hash, lookup);
    }
  };

  const ask = (hash: string, entry: Entry<Row>): Promise<Lookup<Row>> => {
    const start = performance.now();
    // If this is false, the row may be older than a change that was reported meanwhile, such as a rotation.
    const isCurrent = (): boolean => answers.peek(hash) === entry && start >= entry.since;
    const query = runOutsideRequest(async () => {
      const result = await find(hash);
      const lookup = lookupOf(hash, result);
      if (result !== 'undecided' && isCurrent()) {
        entry.since = start;
        remember(hash, lookup);
      }
      return lookup;
    });
    entry.query ??= query;
    const stopSharing = (): void => {
      if (entry.query === query) entry.query = undefined;
    };
    query.then(() => {
      const ttl = answerMs - (performance.now() - start);
      if (ttl <= 0) return stopSharing();
      if (!isCurrent()) return;
      entry.query = query;
      answers.set(hash, entry, { ttl });
    }, stopSharing);
    return query;
  };
  /** Like `lookUp`, but always starts a new look-up, because the credential has changed. */
  const refresh = (hash: string): Promise<Lookup<Row>> => {
    const entry: Entry<Row> = { query: undefined, since: 0 };
    answers.set(hash, entry);
    return ask(hash, entry);
  };
  /** Returns the cached result, or that of a look-up that all requests with this credential share. */
  const lookUp = (hash: string): Promise<Lookup<Row>> => {
    const entry = answers.get(hash);
    if (entry === undefined) return refresh(hash);
    return entry.query === undefined
      ? ask(hash, entry)
      : awaitSharedLookup(entry.query, () => ask(hash, entry));
  };
  /** Drops the cached result and that of a running look-up, so that the next request looks the credential up again. */
  const forgetAnswer = (hash: string): void => void answers.delete(hash);

  return {
    /** The credentials that were valid at their last look-up. */
    valid,
    /** The cached refusal of a credential; undefined if there is none. */
    refusal: (hash: string) => refused.get(hash),
    lookUp,
    refresh,
    forgetAnswer,
    /** Drops everything that is cached about a credential. */
    forget: (hash: string): void => {
      forgetAnswer(hash);
      valid.delete(hash);
      refused.delete(hash);
    },
  };
};
