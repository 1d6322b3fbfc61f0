import { createTally } from '../process/tally.ts';

/** Requests in progress that stay for this long are overload; fewer or shorter are a burst. */
const standingMs = 50;
/** How long the limit holds after overload was last noticed. */
const holdMs = 1000;
/** What is kept, as a part of `max`, for networks with less than their share. */
const reservedPart = 0.25;

/** Limits the requests in progress while a process gets more than it can answer. */
export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/**
 * Each method takes the network of a client. More requests in progress than a process needs to be busy only wait for each other, so `max` of them bound the time of
 * all. The limit applies once there were half as many for 50 ms, although some were answered: what arrives in a burst
 * or during a pause for garbage collection is not refused, and neither is what arrives while all wait for a database.
 *
 * A network that has less than an equal share of `max` in progress is then admitted from a reserve above it, so that a
 * few networks that fill the limit keep no other out.
 */
export const createConcurrencyLimit = (max: number) => {
  const most = max + Math.ceil(max * reservedPart);
  const byNetwork = createTally();
  let inProgress = 0;
  /** As `inProgress`, but at most `max` of each network: one may have had more before the limit began to hold. */
  let boundedInProgress = 0;
  let standingSince: number | undefined;
  let limitedUntil = 0;

  const remove = (network: string): void => {
    inProgress -= 1;
    byNetwork.add(network, -1);
    if (byNetwork.get(network) < max) boundedInProgress -= 1;
  };
  const hasItsShare = (network: string): boolean => {
    const own = byNetwork.get(network);
    return own >= max / (byNetwork.size + (own === 0 ? 1 : 0));
  };

  return {
    enter: (network: string): void => {
      inProgress += 1;
      if (byNetwork.get(network) < max) boundedInProgress += 1;
      byNetwork.add(network, 1);
    },
    /** A request was answered. */
    leave: (network: string): void => {
      if (inProgress < max / 2) standingSince = undefined;
      else {
        const now = performance.now();
        standingSince ??= now;
        if (now - standingSince >= standingMs) limitedUntil = now + holdMs;
      }
      remove(network);
    },
    /** A request waits for something that takes nothing from other requests; `enter` or nothing follows. */
    suspend: remove,
    /** Whether a new request has to be refused. */
    isReached: (network: string): boolean =>
      inProgress >= max &&
      performance.now() < limitedUntil &&
      (boundedInProgress >= most || hasItsShare(network)),
  };
};
