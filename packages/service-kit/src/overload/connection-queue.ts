import { Unavailable } from '../http/problem.ts';
import type { RequestScope } from './request-scope.ts';

export interface ConnectionQueueOptions {
  /** Uses at the same time. */
  slots: number;
  /** Uses by new requests that may wait for a slot; the next one is refused at once. */
  maxWaiting: number;
  /** A use by a new request that has waited this long is refused. */
  maxWaitMs: number;
}

/**
 * A queue in front of a pool. New requests in it are bounded in number and time. A request that has had a slot is not
 * refused any more, because its work would be thrown away, and comes before new ones; so does background work, which
 * limits itself.
 */
export interface ConnectionQueue {
  /**
   * Calls `start` now, or when a slot is free; `leave` must follow. Calls `fail` instead with `Unavailable`
   * (code `too_busy`), or when the request is cancelled while it waits. Without a scope it is background work.
   */
  enter(scope: RequestScope | undefined, start: () => void, fail: (error: unknown) => void): void;
  /** Gives the slot to the next use. */
  leave(): void;
  /** Whether a new request would be refused now. */
  isFull(): boolean;
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

export const createConnectionQueue = ({
  slots,
  maxWaiting,
  maxWaitMs,
}: ConnectionQueueOptions): ConnectionQueue => {
  let free = slots;
  let refused = 0;
  /** Uses that wait, in the order in which they came: each is called when it gets its slot. */
  const begun = new Set<() => void>();
  const fresh = new Set<() => void>();
  const refuse = (): Unavailable => {
    refused += 1;
    return refusal;
  };
  const isFull = (): boolean => free === 0 && fresh.size >= maxWaiting;

  const wait = (
    queue: Set<() => void>,
    scope: RequestScope | undefined,
    start: () => void,
    fail: (error: unknown) => void,
  ): void => {
    const remove = (): void => {
      clearTimeout(timer);
      queue.delete(proceed);
      scope?.onCancel.delete(giveUp);
    };
    const proceed = (): void => {
      remove();
      start();
    };
    const giveUp = (): void => {
      remove();
      fail(scope?.cancelled ?? refuse());
    };
    const timer = queue === fresh ? setTimeout(giveUp, maxWaitMs) : undefined;
    queue.add(proceed);
    scope?.onCancel.add(giveUp);
  };

  return {
    enter: (scope, start, fail) => {
      const admit = (): void => {
        if (scope) scope.admitted = true;
        start();
      };
      if (scope?.cancelled) fail(scope.cancelled);
      else if (free > 0) {
        free -= 1;
        admit();
      } else if (scope === undefined || scope.admitted) wait(begun, scope, start, fail);
      else if (isFull()) fail(refuse());
      else wait(fresh, scope, admit, fail);
    },
    leave: () => {
      const [next] = begun.size > 0 ? begun : fresh;
      if (next === undefined) free += 1;
      else next();
    },
    isFull,
    waiting: () => begun.size + fresh.size,
    refused: () => refused,
  };
};
