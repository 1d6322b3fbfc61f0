/** Requests in progress that stay for this long are overload; fewer or shorter are a burst. */
const standingMs = 50;
/** How long the limit holds after overload was last noticed. */
const holdMs = 1000;

/** Limits the requests in progress while a process gets more than it can answer. */
export interface ConcurrencyLimit {
  enter(): void;
  /** A request was answered. */
  leave(): void;
  /** A request waits for something that takes nothing from other requests; `enter` or nothing follows. */
  suspend(): void;
  /** Whether a new request has to be refused. */
  isReached(): boolean;
}

/**
 * More requests in progress than a process needs to be busy only wait for each other, so `max` of them bound the time of
 * all. The limit applies once there were half as many for 50 ms, although some were answered: what arrives in a burst
 * or during a pause for garbage collection is not refused, and neither is what arrives while all wait for a database.
 */
export const createConcurrencyLimit = (max: number): ConcurrencyLimit => {
  let inProgress = 0;
  let standingSince: number | undefined;
  let limitedUntil = 0;
  return {
    enter: () => {
      inProgress += 1;
    },
    leave: () => {
      if (inProgress < max / 2) standingSince = undefined;
      else {
        const now = performance.now();
        standingSince ??= now;
        if (now - standingSince >= standingMs) limitedUntil = now + holdMs;
      }
      inProgress -= 1;
    },
    suspend: () => {
      inProgress -= 1;
    },
    isReached: () => inProgress >= max && performance.now() < limitedUntil,
  };
};
