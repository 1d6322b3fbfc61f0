import { Unavailable } from '../http/problem.ts';
import type { RequestScope } from './request-scope.ts';

export interface AdmissionOptions {
  /** Uses at the same time. */
  slots: number;
  /** Uses by requests that may wait for a slot; the next one is refused at once. */
  maxWaiting: number;
  /** A use by a request that has waited this long is refused. */
  maxWaitMs: number;
}

/**
 * A queue in front of a pool. What requests add to it is bounded in number and time; background work limits itself, and
 * waits as long as it has to.
 */
export interface Admission {
  /**
   * Calls `start` now, or when a slot is free; `leave` must follow. Calls `refuse` instead with `Unavailable`
   * (code `too_busy`), or when the request is cancelled while it waits. Without a scope it is background work.
   */
  enter(scope: RequestScope | undefined, start: () => void, refuse: (error: unknown) => void): void;
  /** Gives the slot to the use that has waited longest. */
  leave(): void;
  waiting(): number;
  /** Uses that found the queue full or waited too long, since the start. */
  refused(): number;
}

export const createAdmission = ({ slots, maxWaiting, maxWaitMs }: AdmissionOptions): Admission => {
  let free = slots;
  let refused = 0;
  let waitingRequests = 0;
  const queue = new Set<() => void>();
  const tooBusy = (): Unavailable => {
    refused += 1;
    return new Unavailable(
      'too_busy',
      'Too many requests are waiting for the database; try again shortly.',
      undefined,
      1,
    );
  };

  const wait = (scope: RequestScope, start: () => void, refuse: (error: unknown) => void): void => {
    const remove = (): void => {
      clearTimeout(timer);
      queue.delete(proceed);
      scope.onCancel.delete(giveUp);
      waitingRequests -= 1;
    };
    const proceed = (): void => {
      remove();
      start();
    };
    const giveUp = (): void => {
      remove();
      refuse(scope.cancelled ?? tooBusy());
    };
    const timer = setTimeout(giveUp, maxWaitMs);
    queue.add(proceed);
    scope.onCancel.add(giveUp);
    waitingRequests += 1;
  };

  return {
    enter: (scope, start, refuse) => {
      if (scope?.cancelled) refuse(scope.cancelled);
      else if (free > 0) {
        free -= 1;
        start();
      } else if (scope === undefined) {
        const proceed = (): void => {
          queue.delete(proceed);
          start();
        };
        queue.add(proceed);
      } else if (waitingRequests < maxWaiting) wait(scope, start, refuse);
      else refuse(tooBusy());
    },
    leave: () => {
      const [next] = queue;
      if (next === undefined) free += 1;
      else next();
    },
    waiting: () => queue.size,
    refused: () => refused,
  };
};
