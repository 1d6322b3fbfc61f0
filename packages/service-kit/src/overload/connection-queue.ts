import { TooBusy } from '../http/problem.ts';
import { createTally } from '../process/tally.ts';
import { createFairQueue } from './fair-queue.ts';
import { currentRequest, waitUncounted, type RequestScope } from './request-scope.ts';

export interface ConnectionQueueOptions {
  /** Number of statements and transactions that run at the same time. */
  slots: number;
  /** Maximum number of new requests that wait for a slot. Beyond it, the newest of the client with the most is refused. */
  maxWaiting: number;
  /** A new request that has waited this long is refused. */
  maxWaitMs: number;
}

export type ConnectionQueue = ReturnType<typeof createConnectionQueue>;

/** The name of background work in place of a network. */
const background = 'background';

const networkOf = (scope: RequestScope | undefined): string => (scope ? scope.network : background);

/** After a second network was seen, networks leave slots free for each other for this time. */
const sharedMs = 60_000;

/** A started request comes before new requests until it has used this many slots. */
const priorityUses = 20;

/** A statement or transaction that waits for a slot. */
interface Waiting {
  /** Takes a slot and starts. */
  proceed(): void;
  giveUp(): void;
}

/** Created once, because most of the cost of an error is its stack. */
const refusal = new TooBusy('Too many requests are waiting for the database; try again shortly.');

/**
 * Creates a queue in front of a connection pool. The number of waiting new requests and their waiting time are bounded.
 * Clients take turns, grouped by network (widest first) and then by credential, so that a client with many requests delays
 * only its own. While several networks are active, a network that uses slots gets another one only if more than half as many
 * stay free. So long statements of a few networks never hold all slots, and a network without a slot gets one at once.
 *
 * A request that has had a slot may wait without a time limit, because refusing it would waste its work. For its first twenty
 * slots it comes before new requests; a request that needs more is a loop, and takes turns with them. Background work also
 * comes before new requests, and uses at most half of the slots.
 */
export const createConnectionQueue = ({ slots, maxWaiting, maxWaitMs }: ConnectionQueueOptions) => {
  const backgroundSlots = Math.ceil(slots / 2);
  /** Slots in use by each network. */
  const running = createTally();
  let free = slots;
  let latestNetwork: string | undefined;
  let sharedUntil = 0;
  let refused = 0;
  /** Started requests and background work, grouped only by network. */
  const startedQueue = createFairQueue<Waiting>();
  const newQueue = createFairQueue<Waiting>();
  const refuse = (): TooBusy => {
    refused += 1;
    return refusal;
  };

  const hasItsShare = (network: string): boolean => {
    const used = running.get(network);
    if (network === background) return used >= backgroundSlots;
    return used > 0 && free <= (used + 1) / 2 && performance.now() < sharedUntil;
  };
  const takeSlot = (network: string): void => {
    free -= 1;
    if (network !== '') running.add(network, 1);
  };
  const returnSlot = (network: string): void => {
    free += 1;
    if (network !== '') running.add(network, -1);
  };
  const noteNetwork = (network: string): void => {
    if (network === latestNetwork || network === '' || network === background) return;
    if (latestNetwork !== undefined) sharedUntil = performance.now() + sharedMs;
    latestNetwork = network;
  };
  /** Queues a statement. `client` is undefined for started requests and background work. */
  const wait = (
    client: readonly string[] | undefined,
    scope: RequestScope | undefined,
    start: () => void,
    fail: (error: unknown) => void,
  ): void => {
    const network = networkOf(scope);
    const queue = client === undefined ? startedQueue : newQueue;
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
      takeSlot(network);
      start();
    };
    const waiting = { proceed, giveUp };
    // A started request has no time limit here, because refusing it would waste its work. Its deadline ends it.
    const hasStarted = client === undefined || (scope !== undefined && scope.uses > 0);
    const timer = hasStarted ? undefined : setTimeout(giveUp, maxWaitMs);
    queue.push(path, waiting);
    scope?.onCancel.add(giveUp);
  };

  return {
    /**
     * Calls `start` as soon as there is a slot; the caller must call `leave` afterwards. Calls `fail` with `TooBusy` if the
     * request is refused, or with its error if it is cancelled while it waits. Without a scope it is background work.
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
        takeSlot(network);
        admit();
      } else if (scope === undefined || (scope.uses > 0 && scope.uses < priorityUses))
        wait(undefined, scope, admit, fail);
      else {
        wait(scope.client(), scope, admit, fail);
        if (newQueue.size > maxWaiting) newQueue.dropLargest()?.giveUp();
      }
    },
    /** Returns the slot of this scope and starts what waits next. */
    leave: (scope: RequestScope | undefined): void => {
      returnSlot(networkOf(scope));
      while (free > 0) {
        const next = startedQueue.shift(hasItsShare) ?? newQueue.shift(hasItsShare);
        if (next === undefined) return;
        next.proceed();
      }
    },
    /** Whether a new request of this client (`RequestScope.client`) would be refused now. */
    refuses: (client: () => readonly string[]): boolean => {
      if (newQueue.size < maxWaiting) return false;
      const path = client();
      return (free === 0 || hasItsShare(path[0] ?? '')) && newQueue.wouldDrop(path);
    },
    waiting: (): number => startedQueue.size + newQueue.size,
    /** Number of refusals since the start, because the queue was full or the wait too long. */
    refused: (): number => refused,
  };
};

/** Runs a part of a request in a slot of a separate queue, in which it waits like a new request. Throws TooBusy. */
export const runInSlot = async <T>(queue: ConnectionQueue, work: () => Promise<T>): Promise<T> => {
  const request = currentRequest();
  const scope = request && { ...request, uses: 0 };
  await waitUncounted(() => new Promise<void>((resolve, reject) => queue.enter(scope, resolve, reject)));
  try {
    return await work();
  } finally {
    queue.leave(scope);
  }
};
