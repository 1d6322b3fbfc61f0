import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { toProblem, Unavailable } from '@platform/service-kit/problem';
import { equal } from './equal.ts';

/** What a service stores of a token, as far as it matters here. */
export interface PathTokenRow {
  /** The hash by which it was found: that of the current token or of the one before. */
  tokenHash: string;
  /** Until when a token works that was replaced; null for the current one. */
  graceUntil: Date | null;
}

export interface PathTokenOptions<Row extends PathTokenRow> {
  /** Looks the owner of a token up by the token's hash. */
  find: (tokenHash: string) => Promise<Row | undefined>;
  /** How long an answer, also `unknown`, is reused without another query; 750 ms by default. */
  ttlMs?: number;
  /** How long a token that was good is believed while the database is away; an hour unless said otherwise. */
  rememberMs?: number;
  /** A database that takes longer counts as away; 2 seconds unless said otherwise. */
  patienceMs?: number;
  now?: () => Date;
}

/** `undecidable`: the database is away and the token was not seen lately. */
export type Recognised<Row> =
  | { state: 'known'; row: Row; inGrace: boolean }
  /** `tokenHash` is there for a token that nobody issued, not for junk or a token that was replaced. */
  | { state: 'unknown'; tokenHash?: string }
  | { state: 'undecidable' };

export interface PathTokens<Row> {
  recognise: (token: string) => Promise<Recognised<Row>>;
}

const shape = /^[A-Za-z0-9_-]{43}$/;
const many = 20_000;

/** SHA-256 in hex. Fast on purpose: 256 random bits can't be guessed. */
export const hashPathToken = (token: string): string => hash('sha256', token);

/** A new token: 256 random bits in base64url, and the hash that is stored instead of it. */
export const makePathToken = (): { token: string; tokenHash: string } => {
  const token = randomBytes(32).toString('base64url');
  return { token, tokenHash: hashPathToken(token) };
};

const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const away = new Unavailable('database_unavailable', 'The database is away; try again shortly.');
    timer = setTimeout(() => reject(away), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Recognises the opaque tokens that stand in the paths of webhooks. */
export const createPathTokens = <Row extends PathTokenRow>(
  options: PathTokenOptions<Row>,
): PathTokens<Row> => {
  const { find, ttlMs = 750, rememberMs = 3_600_000, patienceMs = 2000, now = () => new Date() } = options;
  const recent = new LRUCache<string, Promise<Row | 'unknown' | 'undecidable'>>({ max: many, ttl: ttlMs });
  // Apart from the known tokens, so that a flood of unknown ones evicts none of those.
  const unknown = new LRUCache<string, true>({ max: many, ttl: ttlMs });
  const good = new LRUCache<string, Row>({ max: many, ttl: rememberMs });

  const ask = async (tokenHash: string): Promise<Row | 'unknown' | 'undecidable'> => {
    try {
      const row = await within(patienceMs, find(tokenHash));
      if (row !== undefined && equal(row.tokenHash, tokenHash)) {
        good.set(tokenHash, row);
        return row;
      }
      good.delete(tokenHash);
      recent.delete(tokenHash);
      unknown.set(tokenHash, true);
      return 'unknown';
    } catch (error) {
      if (toProblem(error).status === 503) return good.get(tokenHash) ?? 'undecidable';
      recent.delete(tokenHash);
      throw error;
    }
  };

  return {
    recognise: async (token) => {
      if (!shape.test(token)) return { state: 'unknown' };
      const tokenHash = hashPathToken(token);
      if (unknown.has(tokenHash)) return { state: 'unknown', tokenHash };
      let asked = recent.get(tokenHash);
      if (asked === undefined) recent.set(tokenHash, (asked = ask(tokenHash)));
      const found = await asked;
      if (found === 'unknown') return { state: 'unknown', tokenHash };
      if (found === 'undecidable') return { state: 'undecidable' };
      const { graceUntil } = found;
      if (graceUntil !== null && graceUntil <= now()) return { state: 'unknown' };
      return { state: 'known', row: found, inGrace: graceUntil !== null };
    },
  };
};
