import { TooBusy } from '../http/problem.ts';
import { createTally } from '../process/tally.ts';
import { createFairQueue } from './fair-queue.ts';
import { currentRequest, waitUncounted, type RequestScope } from './request-scope.ts';

export interface ConnectionQueueOptions {
  /** Uses at the same time. */
  slots: number;
  /** Uses by new requests that may wait for a slot; with one more, the newest of the client with the most is refused. */
  maxWaiting: number;
  /** A use by a new request that has waited this long is refused. */
  maxWaitMs: number;
}

/** What `createConnectionQueue` makes. */
export type ConnectionQueue = ReturnType<typeof createConnectionQueue>;

/** In place of a network. */
const background = 'background';

const networkOf = (scope: RequestScope | undefined): string => (scope ? scope.network : background);

/** How long a network may come back: for this time after it was seen, the others leave some slots free. */
const sharedMs = 60_000;

/** So often a request that has begun comes before new ones. */
const firstUses = 20;

/** A use that waits. */
interface Waiting {
  /** It gets a slot. */
  proceed(): void;
  giveUp(): void;
}

/** Made once: most of the cost of an error is its stack. */
const refusal = new TooBusy('Too many requests are waiting for the database; try again shortly.');

/**
 * A queue in front of a pool. New requests in it are bounded in number and time, and clients take turns: first their
 * networks, the widest first, then the credentials in each, so that one that sends many requests delays its own. While
 * there are others, a network that uses some slots gets another one only if more than half as many stay free: so the long
 * statements of a few networks never hold all of them, and who has none gets one at once.
 *
 * A request that has had a slot does not wait for a limited time any more, because its work would be thrown away. For its
 * first twenty uses it comes before new requests; what needs more is a loop, and takes turns with them. Background work
 * comes before new requests, too, and never has more than half of the slots.
 */
export const createConnectionQueue = ({ slots, maxWaiting, maxWaitMs }: ConnectionQueueOptions) => {
  const backgroundSlots = Math.ceil(slots / 2);
  /** Uses now by each network. */
  const running = createTally();
  let free = slots;
  let latestNetwork: string | undefined;
  let sharedUntil = 0;
  let refused = 0;
  /** By network alone. */
  const begun = createFairQueue<Waiting>();
  const fresh = createFairQueue<Waiting>();
  const refuse = (): TooBusy => {
    refused += 1;
    return refusal;
  };

  const hasItsShare = (network: string): boolean => {
    const used = running.get(network);
    if (network === background) return used >= backgroundSlots;
    return used > 0 && free <= (used + 1) / 2 && performance.now() < sharedUntil;
  };
  const change = (network: string, by: 1 | -1): void => {
    free -= by;
    if (network !== '') running.add(network, by);
  };
  const noteNetwork = (network: string): void => {
    if (network === latestNetwork || network === '' || network === background) return;
    if (latestNetwork !== undefined) sharedUntil = performance.now() + sharedMs;
    latestNetwork = network;
  };
  /** Without a client it has begun, or is background work. */
  const wait = (
    client: readonly string[] | undefined,
    scope: RequestScope | undefined,
    start: () => void,
    fail: (error: unknown) => void,
  ): void => {
    const network = networkOf(scope);
    const queue = client === undefined ? begun : fresh;
    const path = client ?? [network];
    const remove = (): void => {
      clearTimeout(timer);
      queue.remove(path, waiting);
      scope?.onCancel.delete(giveUp);
    };
    const giveUp = (): void => {
      remove();
      fail(scope?.cancelled ?? refuse());
    };
    const proceed = (): void => {
      remove();
      change(network, 1);
      start();
    };
    const waiting = { proceed, giveUp };
    // The work of one that has begun would be thrown away; its deadline ends it.
    const hasBegun = client === undefined || (scope !== undefined && scope.uses > 0);
    const timer = hasBegun ? undefined : setTimeout(giveUp, maxWaitMs);
    queue.push(path, waiting);
    scope?.onCancel.add(giveUp);
  };

  return {
    /**
     * Calls `start` now, or when a slot is free; `leave` must follow. Calls `fail` instead with `TooBusy`, or when the
     * request is cancelled while it waits. Without a scope it is background work.
     */
    enter: (scope: RequestScope | undefined, start: () => void, fail: (error: unknown) => void): void => {
      const admit = (): void => {
        if (scope) scope.uses += 1;
        start();
      };
      const network = networkOf(scope);
      noteNetwork(network);
      if (scope?.cancelled) fail(scope.cancelled);
      else if (free > 0 && !hasItsShare(network)) {
        change(network, 1);
        admit();
      } else if (scope === undefined || (scope.uses > 0 && scope.uses < firstUses))
        wait(undefined, scope, admit, fail);
      else {
        wait(scope.client(), scope, admit, fail);
        if (fresh.size > maxWaiting) fresh.dropLargest()?.giveUp();
      }
    },
    /** Gives the slot of a use with this scope to the next use. */
    leave: (scope: RequestScope | undefined): void => {
      change(networkOf(scope), -1);
      while (free > 0) {
        const next = begun.shift(hasItsShare) ?? fresh.shift(hasItsShare);
        if (next === undefined) return;
        next.proceed();
      }
    },
    /** Whether a new request of this client (`RequestScope.client`) would be refused now. */
    refuses: (client: () => readonly string[]): boolean => {
      if (fresh.size < maxWaiting) return false;
      const path = client();
      return (free === 0 || hasItsShare(path[0] ?? '')) && fresh.wouldDrop(path);
    },
    waiting: (): number => begun.size + fresh.size,
    /** Uses that found the queue full or waited too long, since the start. */
    refused: (): number => refused,
  };
};

/** Does a part of a request when it is its turn in a queue of its own, as if it had had no slot yet. Throws TooBusy. */
export const runInSlot = async <T>(queue: ConnectionQueue, work: () => Promise<T>): Promise<T> => {
  const request = currentRequest();
  const scope = request && { ...request, uses: 0 };
  await waitUncounted(() => new Promise<void>((start, fail) => queue.enter(scope, start, fail)));
  try {
    return await work();
  } finally {
    queue.leave(scope);
  }
};
