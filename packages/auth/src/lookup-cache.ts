import { createLru } from '@platform/service-kit/lru';
import { awaitSharedLookup } from '@platform/service-kit/queue-turns';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import { equal } from './equal.ts';

export interface LookupCacheOptions<Row> {
  /** Looks a credential up by its hash. `undecided`: it cannot be said now whether it is valid. */
  find(hash: string): Promise<Row | 'undecided' | undefined>;
  hashOf(row: Row): string;
  isValid(row: Row): boolean;
  /** Credentials of each kind (valid, refused) that are remembered. */
  maxCredentials: number;
  /** How long an answer is used, from the start of its query. */
  answerMs: number;
  /** How long a valid credential is known as such. */
  rememberMs: number;
  /** Called when a credential becomes valid, has another row, or is valid no more. */
  onChange?(before: Row | undefined, after: Row | undefined): void;
}

/** What a look-up found. `unknown`: there is no such credential; `invalid`: it was issued once. */
export type Lookup<Row> = { state: 'valid'; row: Row } | { state: 'unknown' | 'invalid' | 'undecided' };

/** What the requests with a credential share, until its answer is forgotten or has become too old. */
interface Entry<Row> {
  /** The look-up that runs or was answered; undefined when it has failed. */
  query: Promise<Lookup<Row>> | undefined;
  /** When the look-up began whose answer is kept, by `performance.now()`. */
  since: number;
}

/** A refusal is kept for longer than an answer: no credential is issued that was sent before. */
const refusedMs = 60_000;

/** Credentials by their hash. Only definite answers are kept: when a query fails, the next request asks again. */
export const createLookupCache = <Row extends {}>(options: LookupCacheOptions<Row>) => {
  const { find, hashOf, isValid, maxCredentials, answerMs, rememberMs, onChange } = options;
  const answers = createLru<string, Entry<Row>>(maxCredentials);
  const valid = createLru<string, Row>(maxCredentials, rememberMs);
  // Separate from the valid ones, so that a flood of unknown credentials evicts none of them.
  const refused = createLru<string, Lookup<Row>>(maxCredentials, refusedMs);

  const lookupOf = (hash: string, found: Row | 'undecided' | undefined): Lookup<Row> => {
    if (found === 'undecided') {
      const row = valid.get(hash);
      return row === undefined ? { state: 'undecided' } : { state: 'valid', row };
    }
    if (found === undefined || !equal(hashOf(found), hash)) return { state: 'unknown' };
    return isValid(found) ? { state: 'valid', row: found } : { state: 'invalid' };
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
    // Otherwise the row may be from before a change that was told meanwhile, such as a rotation.
    const isCurrent = (): boolean => answers.peek(hash) === entry && start >= entry.since;
    const query = runOutsideRequest(async () => {
      const found = await find(hash);
      const lookup = lookupOf(hash, found);
      if (found !== 'undecided' && isCurrent()) {
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
  /** As `lookUp`, but never an answer of a look-up that has begun: the credential has changed. */
  const refresh = (hash: string): Promise<Lookup<Row>> => {
    const entry: Entry<Row> = { query: undefined, since: 0 };
    answers.set(hash, entry);
    return ask(hash, entry);
  };
  /** The last answer, or that of a query, which all requests with this credential share. */
  const lookUp = (hash: string): Promise<Lookup<Row>> => {
    const entry = answers.get(hash);
    if (entry === undefined) return refresh(hash);
    return entry.query === undefined
      ? ask(hash, entry)
      : awaitSharedLookup(entry.query, () => ask(hash, entry));
  };
  /** The next request is looked up, and an answer that is still to come is not kept. */
  const forgetAnswer = (hash: string): void => void answers.delete(hash);

  return {
    /** The credentials that were valid when they were looked up last. */
    valid,
    /** A refusal that is remembered; undefined when the credential would be looked up. */
    refusal: (hash: string) => refused.get(hash),
    lookUp,
    refresh,
    forgetAnswer,
    /** Forgets also that the credential was valid or was refused. */
    forget: (hash: string): void => {
      forgetAnswer(hash);
      valid.delete(hash);
      refused.delete(hash);
    },
  };
};
