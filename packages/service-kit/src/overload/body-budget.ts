import type { ServerResponse } from 'node:http';
import { TooBusy } from '../http/problem.ts';
import { createTally } from '../process/tally.ts';

/** Bounds the memory of the request bodies of a process. */
export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** Bodies up to this size are not counted, because MAX_IN_PROGRESS bounds their memory. */
const smallBodyBytes = 4096;

const refusal = new TooBusy('Too many large requests are arriving; try again shortly.');

/** The keys for which a body counts: the client's network and, after authentication, the caller. */
const holdersOf = ({ req, callerKey }: ServerResponse): readonly string[] => {
  const network = `network ${req.scope?.network}`;
  return callerKey === undefined ? [network] : [network, `key ${callerKey}`];
};

/**
 * Creates a budget of `maxBytes`. A network or caller may hold at most twice as much as is free: two thirds if it is the only
 * one, less if there are others, so that a few clients never use the whole budget. Only bytes that have arrived are counted.
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
    /** Bytes in use. */
    get bytes(): number {
      return used;
    },
    /** Counts bytes that have arrived for the request of `res`. Throws TooBusy when there is no room for them. */
    take: (res: ServerResponse, bytes: number): void => {
      // Bytes of a closed response would never be released.
      if (res.closed) return;
      const bodyBytes = (res.bodyBytes ?? 0) + bytes;
      res.bodyBytes = bodyBytes;
      if (bodyBytes <= smallBodyBytes) return;
      const isCounted = res.bodyHolders !== undefined;
      if (!isCounted) res.once('close', release);
      const holders = (res.bodyHolders ??= holdersOf(res));
      change(holders, isCounted ? bytes : bodyBytes);
      if (hasRoom(holders)) return;
      // Releases the part that has arrived at once, so that of several large bodies that arrive together one fits.
      release.call(res);
      throw refusal;
    },
    /** Counts the body of `res` until `work` ends, even if the client closes the connection before. */
    countWhile: async <T>(res: ServerResponse, work: () => Promise<T>): Promise<T> => {
      res.off('close', release);
      return work().finally(() => release.call(res));
    },
  };
};
