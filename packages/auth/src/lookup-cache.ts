import { createLru } from '@platform/service-kit/lru';
import { inOwnTurn } from '@platform/service-kit/own-turn';
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

/** Credentials by their hash. */
export interface LookupCache<Row extends {}> {
  /** The credentials that were valid when they were looked up last. */
  valid: ReturnType<typeof createLru<string, Row>>;
  /** A refusal that is remembered; undefined when the credential would be looked up. */
  refusal(hash: string): Lookup<Row> | undefined;
  /** The last answer, or that of a query, which all requests with this credential share. */
  lookUp(hash: string): Promise<Lookup<Row>>;
  /** As `lookUp`, but never the last answer. */
  refresh(hash: string): Promise<Lookup<Row>>;
  /** The next request is looked up, and an answer that is still to come is not kept. */
  forgetAnswer(hash: string): void;
  /** Forgets also that the credential was valid or was refused. */
  forget(hash: string): void;
}

/** A refusal is kept for longer than an answer: no credential is issued that was sent before. */
const refusedMs = 60_000;

/** Only definite answers are kept: when a query fails, the next request asks again. */
export const createLookupCache = <Row extends {}>(options: LookupCacheOptions<Row>): LookupCache<Row> => {
  const { find, hashOf, isValid, maxCredentials, answerMs, rememberMs, onChange } = options;
  const answers = createLru<string, Promise<Lookup<Row>>>(maxCredentials);
  const valid = createLru<string, Row>(maxCredentials, rememberMs);
  // Separate from the valid ones, so that a flood of unknown credentials evicts none of them.
  const refused = createLru<string, Lookup<Row>>(maxCredentials, refusedMs);

  const ask = async (hash: string, isCurrent: () => boolean): Promise<Lookup<Row>> => {
    const found = await find(hash);
    const before = valid.get(hash);
    if (found === 'undecided')
      return before === undefined ? { state: 'undecided' } : { state: 'valid', row: before };
    const isKnown = found !== undefined && equal(hashOf(found), hash);
    if (isKnown && isValid(found)) {
      // The row may be from before a change that was told meanwhile, such as a rotation.
      if (!isCurrent()) return { state: 'valid', row: found };
      onChange?.(before, found);
      valid.set(hash, found);
      refused.delete(hash);
      return { state: 'valid', row: found };
    }
    const refusal: Lookup<Row> = { state: isKnown ? 'invalid' : 'unknown' };
    if (!isCurrent()) return refusal;
    if (before !== undefined) onChange?.(before, undefined);
    valid.delete(hash);
    refused.set(hash, refusal);
    return refusal;
  };

  const refresh = (hash: string): Promise<Lookup<Row>> => {
    const start = performance.now();
    const isCurrent = (): boolean => answers.peek(hash) === query;
    const query = runOutsideRequest(async () => ask(hash, isCurrent));
    answers.set(hash, query);
    const keep = (isDefinite: boolean) => (): void => {
      if (!isCurrent()) return;
      const ttl = isDefinite ? answerMs - (performance.now() - start) : 0;
      if (ttl > 0) answers.set(hash, query, { ttl });
      else answers.delete(hash);
    };
    query.then(keep(true), keep(false));
    return query;
  };
  const lookUp = (hash: string): Promise<Lookup<Row>> => {
    const shared = answers.get(hash);
    return shared === undefined ? refresh(hash) : inOwnTurn(shared, () => refresh(hash));
  };
  const forgetAnswer = (hash: string): void => void answers.delete(hash);

  return {
    valid,
    refusal: (hash) => refused.get(hash),
    lookUp,
    refresh,
    forgetAnswer,
    forget: (hash) => {
      forgetAnswer(hash);
      valid.delete(hash);
      refused.delete(hash);
    },
  };
};
