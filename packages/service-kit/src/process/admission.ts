import { Unavailable } from '../http/problem.ts';
import type { RequestScope } from './request-scope.ts';

export interface AdmissionOptions {
  /** Uses at the same time. */
  slots: number;
  /** Uses by new requests that may wait for a slot; the next one is refused at once. */
  maxWaiting: number;
  /** A use by a new request that has waited this long is refused. */
  maxWaitMs: number;
}

/**
 * A queue in front of a pool. The requests in it are bounded in number and time. A request that has had a slot is not
 * refused any more and comes before new ones. Background work limits itself, and waits as long as it has to.
 */
export interface Admission {
  /**
   * Calls `start` now, or when a slot is free; `leave` must follow. Calls `refuse` instead with `Unavailable`
   * (code `too_busy`), or when the request is cancelled while it waits. Without a scope it is background work.
   */
  enter(scope: RequestScope | undefined, start: () => void, refuse: (error: unknown) => void): void;
  /** Gives the slot to the next use. */
  leave(): void;
  waiting(): number;
  /** Uses that found the queue full or waited too long, since the start. */
  refused(): number;
}

/** Made once: most of the cost of an error is its stack. */
const refusal = new Unavailable(
  'too_busy',
  'Too many requests are waiting for the database; try again shortly.',
  undefined,
  1,
);

export const createAdmission = ({ slots, maxWaiting, maxWaitMs }: AdmissionOptions): Admission => {
  let free = slots;
  let refused = 0;
  let waitingRequests = 0;
  /** Later statements of requests that have had a slot: work that was begun is not thrown away. */
  const begun = new Set<() => void>();
  const queue = new Set<() => void>();
  const tooBusy = (): Unavailable => {
    refused += 1;
    return refusal;
  };

  const waitAsNew = (scope: RequestScope, start: () => void, refuse: (error: unknown) => void): void => {
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

  /** Only cancellation ends this wait; it is short, because what has begun comes first. */
  const waitToGoOn = (scope: RequestScope, start: () => void, refuse: (error: unknown) => void): void => {
    const proceed = (): void => {
      begun.delete(proceed);
      scope.onCancel.delete(giveUp);
      start();
    };
    const giveUp = (): void => {
      begun.delete(proceed);
      refuse(scope.cancelled);
    };
    begun.add(proceed);
    scope.onCancel.add(giveUp);
  };

  const waitInBackground = (start: () => void): void => {
    const proceed = (): void => {
      queue.delete(proceed);
      start();
    };
    queue.add(proceed);
  };

  return {
    enter: (scope, start, refuse) => {
      const admit = (): void => {
        if (scope) scope.admitted = true;
        start();
      };
      if (scope?.cancelled) refuse(scope.cancelled);
      else if (free > 0) {
        free -= 1;
        admit();
      } else if (scope === undefined) waitInBackground(start);
      else if (scope.admitted) waitToGoOn(scope, start, refuse);
      else if (waitingRequests < maxWaiting) waitAsNew(scope, admit, refuse);
      else refuse(tooBusy());
    },
    leave: () => {
      const [next] = begun.size > 0 ? begun : queue;
      if (next === undefined) free += 1;
      else next();
    },
    waiting: () => begun.size + queue.size,
    refused: () => refused,
  };
};
