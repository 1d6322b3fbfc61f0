import { hash, randomBytes } from 'node:crypto';
import { isOverload, toProblem, Unavailable } from '@platform/service-kit/problem';
import { withTimeout } from '@platform/service-kit/timeout';
import { createLookupCache } from './lookup-cache.ts';

/** The stored columns of a token that are needed here. */
export interface PathTokenRow {
  /** The hash that it was found by: of the current token or of the previous one. */
  tokenHash: string;
  /** When a replaced token stops working (ISO 8601, UTC, milliseconds); null for the current one. */
  graceUntil: string | null;
}

export interface PathTokenOptions<Row extends PathTokenRow> {
  /** Looks the owner of a token up by the token's hash. */
  find: (tokenHash: string) => Promise<Row | undefined>;
  /** How long a row is cached; default 750 ms. Unknown tokens are cached for a minute: none is issued after it was sent. */
  ttlMs?: number;
  /** How long a valid token is accepted while the database is unavailable; default one hour. */
  rememberMs?: number;
  /**
   * A database that takes longer counts as unavailable; default 2 seconds. For a token that was valid recently it is an
   * eighth of that, so that its requests do not pile up, and a twentieth while the database is unavailable.
   */
  timeoutMs?: number;
  now?: () => Date;
}

/** `undecidable`: the database is unavailable and the token was not valid recently. */
export type Recognised<Row> =
  | { state: 'known'; row: Row; inGrace: boolean }
  /** `tokenHash` is set for a well-formed token that was never issued. */
  | { state: 'unknown'; tokenHash?: string }
  | { state: 'undecidable' };

/** A token that was valid when it was looked up last. */
export interface VerifiedToken<Row> {
  row: Row;
  /** Until then it is accepted while the database is unavailable: ms since 1970, by this machine's clock. */
  expiresAt: number;
}

/** Return type of `createPathTokens`. */
export type PathTokens<Row extends PathTokenRow> = ReturnType<typeof createPathTokens<Row>>;

const tokenFormat = /^[A-Za-z0-9_-]{43}$/;
const maxTokens = 20_000;

/** SHA-256 in hex. A fast hash is enough, because 256 random bits can't be guessed. */
export const hashPathToken = (token: string): string => hash('sha256', token);

/** The hash of a token that a client sent; undefined if it is malformed. */
export const hashSentToken = (token: string): string | undefined =>
  tokenFormat.test(token) ? hashPathToken(token) : undefined;

/** A new token: 256 random bits in base64url, and the hash to store. */
export const makePathToken = (): { token: string; tokenHash: string } => {
  const token = randomBytes(32).toString('base64url');
  return { token, tokenHash: hashPathToken(token) };
};

const databaseTimeout = (): Unavailable =>
  new Unavailable('database_unavailable', 'The database is unavailable; try again shortly.');

/** Recognises the secret tokens in the paths of webhooks. */
export const createPathTokens = <Row extends PathTokenRow>(options: PathTokenOptions<Row>) => {
  const { ttlMs = 750, rememberMs = 3_600_000, timeoutMs = 2000, now = () => new Date() } = options;
  let changes = 0;
  /** Whether the last look-up found the database unavailable. */
  let isUnavailable = false;
  /** Tokens whose cached rows are out of date; their look-ups always get the whole `timeoutMs`. */
  const changed = new Set<string>();

  const timeoutFor = (tokenHash: string): number => {
    if (changed.has(tokenHash)) return timeoutMs;
    if (isUnavailable) return timeoutMs / 20;
    return tokens.valid.has(tokenHash) ? timeoutMs / 8 : timeoutMs;
  };

  const ask = async (tokenHash: string): Promise<Row | undefined> => {
    const row = await options.find(tokenHash);
    // Even an answer after the time limit shows that the database is available again.
    isUnavailable = false;
    return row;
  };
  const tokens = createLookupCache<Row>({
    find: async (tokenHash) => {
      try {
        return await withTimeout(timeoutFor(tokenHash), databaseTimeout, ask(tokenHash));
      } catch (error) {
        const { status, code } = toProblem(error);
        // An overloaded process says nothing about the database: other requests for this token may look it up.
        const isRefused = isOverload(code);
        if (status !== 503 || (isRefused && !tokens.valid.has(tokenHash))) throw error;
        if (isRefused) return 'undecided';
        isUnavailable = true;
        return 'undecided';
      }
    },
    hashOf: (row) => row.tokenHash,
    // A token whose grace period is over is not remembered as refused: this machine's clock may be wrong.
    isValid: () => true,
    maxCredentials: maxTokens,
    answerMs: ttlMs,
    rememberMs,
    onChange: (before, after) => {
      const isSame = before !== undefined && after !== undefined;
      if (!isSame || before.graceUntil !== after.graceUntil) changes++;
    },
  });
  const { valid } = tokens;

  return {
    /** Whether any token would be accepted while the database is unavailable. */
    get hasValid(): boolean {
      return valid.keys().next().done === false;
    },
    /** The row of a token as it was when it was last looked up and valid. */
    validRow: (tokenHash: string) => valid.peek(tokenHash),
    /** Ends a valid token at `graceUntil`, unless it is already known to end earlier. */
    replaced: (tokenHash: string, graceUntil: string): void => {
      const row = valid.peek(tokenHash);
      if (row !== undefined && row.graceUntil !== null && row.graceUntil <= graceUntil) return;
      // Also when the first look-up of a token is running: its row may be older than the rotation.
      tokens.forgetAnswer(tokenHash);
      if (row === undefined) return;
      valid.set(tokenHash, { ...row, graceUntil }, { ttl: valid.getRemainingTTL(tokenHash) });
      changes++;
    },
    /** Looks a token up again, because its row has changed. Never rejects. */
    refresh: async (tokenHash: string): Promise<void> => {
      changes++;
      changed.add(tokenHash);
      // When the query fails, the next request with this token asks again.
      await tokens.refresh(tokenHash).catch(() => undefined);
      changed.delete(tokenHash);
    },
    /** Increases whenever a token becomes valid, becomes invalid or gets another grace period or row. */
    get changes(): number {
      return changes;
    },
    /** The tokens that are accepted while the database is unavailable. */
    verified: (): VerifiedToken<Row>[] =>
      [...valid].map(([hash, row]) => ({ row, expiresAt: Date.now() + valid.getRemainingTTL(hash) })),
    /** Accepts tokens that an earlier process has verified; tokens that this process has looked up itself keep their rows. */
    restore: (verified: readonly VerifiedToken<Row>[]): void => {
      for (const { row, expiresAt } of verified) {
        const ttl = Math.min(expiresAt - Date.now(), rememberMs);
        if (ttl <= 0 || valid.has(row.tokenHash)) continue;
        valid.set(row.tokenHash, row, { ttl });
        changes++;
      }
    },
    /**
     * Looks a token up by its hash (undefined for a malformed token). `beforeLookup` may throw to prevent the look-up of a
     * token that was not valid within `rememberMs`.
     */
    recognise: async (tokenHash: string | undefined, beforeLookup?: () => void): Promise<Recognised<Row>> => {
      if (tokenHash === undefined) return { state: 'unknown' };
      const refusal = tokens.refusal(tokenHash);
      if (refusal === undefined && !valid.has(tokenHash)) beforeLookup?.();
      const lookup = refusal ?? (await tokens.lookUp(tokenHash));
      if (lookup.state === 'undecided') return { state: 'undecidable' };
      if (lookup.state !== 'valid') return { state: 'unknown', tokenHash };
      const { graceUntil } = lookup.row;
      if (graceUntil !== null && graceUntil <= now().toISOString()) return { state: 'unknown' };
      return { state: 'known', row: lookup.row, inGrace: graceUntil !== null };
    },
  };
};
