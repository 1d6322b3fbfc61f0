import { Unavailable } from '../http/problem.ts';
import { createFairQueue } from './fair-queue.ts';
import type { RequestScope } from './request-scope.ts';

export interface ConnectionQueueOptions {
  /** Uses at the same time. */
  slots: number;
  /** Uses by new requests that may wait for a slot; with one more, the newest of the client with the most is refused. */
  maxWaiting: number;
  /** A use by a new request that has waited this long is refused. */
  maxWaitMs: number;
}

/**
 * A queue in front of a pool. New requests in it are bounded in number and time, and clients take turns: first their
 * networks, the widest first, then the credentials in each, so that one that sends many requests delays its own. A request that has had a slot is not
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
  /** Whether a new request of this client (`RequestScope.client`) would be refused now. */
  refuses(client: () => readonly string[]): boolean;
  waiting(): number;
  /** Uses that found the queue full or waited too long, since the start. */
  refused(): number;
}

/** A use that waits. */
interface Waiting {
  /** It gets a slot. */
  proceed(): void;
  giveUp(): void;
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
  const begun = new Set<Waiting>();
  const fresh = createFairQueue<Waiting>();
  const refuse = (): Unavailable => {
    refused += 1;
    return refusal;
  };

  /** Without a client it has begun, or is background work. */
  const wait = (
    client: readonly string[] | undefined,
    scope: RequestScope | undefined,
    start: () => void,
    fail: (error: unknown) => void,
  ): void => {
    const remove = (): void => {
      clearTimeout(timer);
      if (client === undefined) begun.delete(waiting);
      else fresh.remove(client, waiting);
      scope?.onCancel.delete(giveUp);
    };
    const giveUp = (): void => {
      remove();
      fail(scope?.cancelled ?? refuse());
    };
    const proceed = (): void => {
      remove();
      start();
    };
    const waiting = { proceed, giveUp };
    const timer = client === undefined ? undefined : setTimeout(giveUp, maxWaitMs);
    if (client === undefined) begun.add(waiting);
    else fresh.push(client, waiting);
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
      } else if (scope === undefined || scope.admitted) wait(undefined, scope, start, fail);
      else {
        wait(scope.client(), scope, admit, fail);
        if (fresh.size > maxWaiting) fresh.dropLargest()?.giveUp();
      }
    },
    leave: () => {
      const [first] = begun;
      const next = first ?? fresh.shift();
      if (next === undefined) free += 1;
      else next.proceed();
    },
    refuses: (client) => free === 0 && fresh.size >= maxWaiting && fresh.wouldDrop(client()),
    waiting: () => begun.size + fresh.size,
    refused: () => refused,
  };
};
