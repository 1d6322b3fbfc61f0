/** Something whose failures are counted: an account from a network, a network, an account. */
export interface Bucket {
  key: string;
  /** Failures before the first wait. */
  free: number;
  /** Attempts between two waits after the first one. */
  retries: number;
}

/**
 * The outcome of one attempt. `refused`: a bucket must wait, and nothing was counted. `seconds` has for each bucket, in
 * their order, how long it must wait, or else how long the wait is that this attempt began; 0 for none.
 */
export interface Count {
  refused: boolean;
  seconds: readonly number[];
}

export const day = 86_400;
export const firstWait = 60;
export const longestWait = 3600;

/** Seconds of the wait after `waits` earlier ones: 1, 2, 4 … 32 minutes, then an hour each. */
export const waitSeconds = (waits: number): number => Math.min(firstWait * 2 ** waits, longestWait);
