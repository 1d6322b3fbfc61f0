import type { ServerResponse } from 'node:http';
import { TooBusy } from '../http/problem.ts';
import { createTally } from '../process/tally.ts';

/** Bounds the memory of all request bodies of a process that are read into memory. */
export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** In bytes. Bodies up to this size do not count: MAX_IN_PROGRESS bounds their memory. */
const smallBody = 4096;

const refusal = new TooBusy('Too many large requests are arriving; try again shortly.');

/** The network of the client and, once it is known, the caller, however the credential was written. */
const holdersOf = ({ req, callerKey }: ServerResponse): readonly string[] => {
  const network = `network ${req.scope?.network}`;
  return callerKey === undefined ? [network] : [network, `key ${callerKey}`];
};

/**
 * A budget of `maxBytes`, of which a network or caller may hold at most twice as much as is left: two thirds if it is alone,
 * and less beside others, so that a few never take all. What a client only announces does not count.
 */
export const createBodyBudget = (maxBytes: number) => {
  let used = 0;
  const usedBy = createTally();
  const change = (holders: readonly string[], bytes: number): void => {
    used += bytes;
    for (const holder of holders) usedBy.add(holder, bytes);
  };
  const release = function (this: ServerResponse): void {
    if (this.bodyHolders !== undefined) change(this.bodyHolders, -(this.bodyBytes ?? 0));
    this.bodyBytes = 0;
    this.bodyHolders = undefined;
  };
  const hasRoom = (holders: readonly string[]): boolean =>
    holders.every((holder) => usedBy.get(holder) <= 2 * (maxBytes - used));
  return {
    /** Bytes that count now. */
    get bytes(): number {
      return used;
    },
    /** Counts bytes that have arrived for the request of `res`. Throws TooBusy when there is no room for them. */
    take: (res: ServerResponse, bytes: number): void => {
      // Its `close` has been, after which nothing would give the bytes back.
      if (res.closed) return;
      const own = (res.bodyBytes ?? 0) + bytes;
      res.bodyBytes = own;
      if (own <= smallBody) return;
      const isCounted = res.bodyHolders !== undefined;
      if (!isCounted) res.once('close', release);
      const holders = (res.bodyHolders ??= holdersOf(res));
      change(holders, isCounted ? bytes : own);
      if (hasRoom(holders)) return;
      // The part of a refused body that has arrived is given back at once: of several large bodies that arrive together, one fits.
      release.call(res);
      throw refusal;
    },
    /** Counts the body of `res` until work ends that goes on when the client has gone away. */
    countWhile: async <T>(res: ServerResponse, work: () => Promise<T>): Promise<T> => {
      res.off('close', release);
      return work().finally(() => release.call(res));
    },
  };
};
