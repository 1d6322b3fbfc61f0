import { createTally } from '../process/tally.ts';

/** Many requests in progress for this long are overload; for a shorter time they are a burst. */
const overloadAfterMs = 50;
/** How long the limit applies after overload was last detected. */
const holdMs = 1000;
/** Reserve for networks with less than their share, as a fraction of `max`. */
const reservedShare = 0.25;

/** Limits the requests in progress while more arrive than the process can answer. */
export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/**
 * Creates a limit of `max` requests in progress; its methods take the network of the client. More requests than a process needs
 * to be busy only wait for each other. The limit applies once at least half of `max` were in progress for 50 ms although
 * requests were being answered. So it refuses nothing in a burst, during garbage collection, or while all requests wait for a
 * database.
 *
 * Above `max` a reserve admits networks that have less than an equal share of `max`, so that a few networks cannot lock out
 * the others.
 */
export const createConcurrencyLimit = (max: number) => {
  const maxWithReserve = max + Math.ceil(max * reservedShare);
  const byNetwork = createTally();
  let inProgress = 0;
  /** Like `inProgress`, but counts at most `max` per network, because a network may have had more before the limit applied. */
  let boundedInProgress = 0;
  let busySince: number | undefined;
  let limitedUntil = 0;

  const remove = (network: string): void => {
    inProgress -= 1;
    byNetwork.add(network, -1);
    if (byNetwork.get(network) < max) boundedInProgress -= 1;
  };
  const hasItsShare = (network: string): boolean => {
    const count = byNetwork.get(network);
    return count >= max / (byNetwork.size + (count === 0 ? 1 : 0));
  };

  return {
    enter: (network: string): void => {
      inProgress += 1;
      if (byNetwork.get(network) < max) boundedInProgress += 1;
      byNetwork.add(network, 1);
    },
    /** Call it when a request was answered. */
    leave: (network: string): void => {
      if (inProgress < max / 2) busySince = undefined;
      else {
        const now = performance.now();
        busySince ??= now;
        if (now - busySince >= overloadAfterMs) limitedUntil = now + holdMs;
      }
      remove(network);
    },
    /** Call it while a request waits without using resources that others need. Call `enter` afterwards, unless it has ended. */
    suspend: remove,
    /** Whether a new request must be refused. */
    isReached: (network: string): boolean =>
      inProgress >= max &&
      performance.now() < limitedUntil &&
      (boundedInProgress >= maxWithReserve || hasItsShare(network)),
  };
};
