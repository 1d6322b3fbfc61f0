import { createFairQueue } from '@platform/service-kit/fair-queue';
import { maxRoundRobinEvents } from '../inbox/claim-events.ts';

/** The number of the events in processing, including those that wait for a provider, the bytes of their bodies, and limits of both. */
export interface Capacity {
  readonly maxEvents: number;
  readonly maxBytes: number;
  events: number;
  bytes: number;
}

/** Events that were claimed when they were stored have a capacity of their own, so that a replay does not delay new events. */
export const createCapacities = (): Record<'stored' | 'queued', Capacity> => ({
  stored: { maxEvents: 768, maxBytes: 24 * 2 ** 20, events: 0, bytes: 0 },
  queued: { maxEvents: 512 + maxRoundRobinEvents, maxBytes: 16 * 2 ** 20, events: 0, bytes: 0 },
});

interface Waiting {
  storeId: string;
  bytes: number;
  start(admission: Admission): void;
}

/** The memory of an event. Dispose of it when the event has ended. */
interface Admission extends Disposable {
  /** Counts the memory of the event's change, if it is more than was expected. */
  grow(bytes: number): void;
}

/**
 * Admits events until their memory reaches `maxBytes`, and those of one store until it reaches a third of that, or what is left
 * for others. The others wait with their bodies only; their stores take turns.
 */
export const createPlanningLimit = (maxBytes: number) => {
  const maxOfStore = maxBytes / 3;
  const waiting = createFairQueue<Waiting>();
  const bytesOfStores = new Map<string, number>();
  let total = 0;

  const isFull = (storeId: string): boolean =>
    (bytesOfStores.get(storeId) ?? 0) >= Math.min(maxOfStore, maxBytes - total);
  const count = (storeId: string, bytes: number): void => {
    total += bytes;
    const left = (bytesOfStores.get(storeId) ?? 0) + bytes;
    if (left === 0) bytesOfStores.delete(storeId);
    else bytesOfStores.set(storeId, left);
  };
  const startWaiting = (): void => {
    for (let next = waiting.shift(isFull); next !== undefined; next = waiting.shift(isFull))
      next.start(admit(next.storeId, next.bytes));
  };
  const admit = (storeId: string, expectedBytes: number): Admission => {
    let counted = expectedBytes;
    count(storeId, counted);
    return {
      grow: (bytes) => {
        const more = Math.max(0, bytes - counted);
        counted += more;
        count(storeId, more);
      },
      [Symbol.dispose]: () => {
        count(storeId, -counted);
        startWaiting();
      },
    };
  };
  return {
    /** Whether an event of the store would have to wait. */
    isFull,
    /** Waits until an event that will take about `bytes` may be planned. */
    enter: (storeId: string, bytes: number): Promise<Admission> =>
      new Promise((start) => {
        if (isFull(storeId)) waiting.push([storeId], { storeId, bytes, start });
        else start(admit(storeId, bytes));
      }),
  };
};
