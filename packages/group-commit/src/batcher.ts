import { AsyncLocalStorage } from 'node:async_hooks';
import { Unavailable } from '@platform/service-kit/problem';
import { SafeError } from '@platform/service-kit/safe-error';

export interface BatcherOptions<Item, Result> {
  /**
   * Processes a batch and returns one result per item, in the same order. A rejection means that the outcome of
   * every item is unknown, for example because the connection was lost after the commit was sent.
   */
  flush(batch: readonly Item[]): Promise<readonly Result[]>;
  /** The maximum number of items in a batch. */
  maxBatch: number;
  /** Size of an item, for example its bytes. */
  sizeOf?(item: Item): number;
  /** The maximum sum of the sizes in a batch; a larger item is a batch of its own. */
  maxBatchSize?: number;
  /** Maximum number of waiting items; when the queue is full, `add` rejects immediately. */
  maxQueue: number;
  /** How long an item may wait for a batch, in ms; then it is rejected as if the queue were full. */
  maxWaitMs?: number;
  /** Maximum number of batches that run at the same time. */
  maxInFlight: number;
  /** Two items with a common key never run at the same time, and run in the order in which they were added. */
  keysOf?(item: Item): readonly string[];
  /**
   * Whether the failed batch certainly changed nothing. If so, the batch is split in half and retried, recursively, until
   * each failing item was retried alone.
   */
  isRolledBack?(error: unknown): boolean;
  /** Called with the size of every batch that starts; for metrics. */
  onBatch?(size: number): void;
}

/** The object that `createBatcher` returns. */
export type Batcher<Item, Result> = ReturnType<typeof createBatcher<Item, Result>>;

interface QueueEntry<Item, Result> {
  item: Item;
  keys: readonly string[];
  addedAt: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface BatchOutcome {
  /** Whether an item was or will be rejected. */
  hasFailed: boolean;
  /** Resolves or rejects the promise of each item. */
  settleItems(): void;
}

const noKeys: readonly string[] = [];

/**
 * While another batch runs, a batch starts only when it is as large or has this many items: a smaller one costs more than
 * it gains.
 */
const enoughItems = 16;

/** After this time a batch is probably stuck, so the next one does not wait for it. */
const slowMs = 50;

const tooBusyError = (): Unavailable =>
  new Unavailable('too_busy', 'Too many requests are waiting; try again shortly.');

/**
 * Group commit: collects concurrent calls into batches. A batch contains the items that arrived while the previous batch
 * was running. There is no timer, so a single item starts at the end of the current turn of the event loop. Disposal
 * waits until every item has its result.
 */
export const createBatcher = <Item, Result>(options: BatcherOptions<Item, Result>) => {
  const { flush, maxBatch, maxQueue, maxWaitMs, maxInFlight, keysOf, isRolledBack, onBatch } = options;
  const { sizeOf = () => 0, maxBatchSize = Infinity } = options;
  type Entry = QueueEntry<Item, Result>;
  /** A batch serves many requests, so it must not run in the async context of the request that started it. */
  const runOutside = AsyncLocalStorage.snapshot();
  let queue: Entry[] = [];
  let batchesInFlight = 0;
  /** Items of the running batches that are not slow. */
  let itemsInFlight = 0;
  let scheduled = false;
  const busyKeys = new Set<string>();
  let onIdle: (() => void) | undefined;
  let expiry: NodeJS.Timeout | undefined;

  /** Removes the next batch from the queue: the oldest items that share no key with each other or a running batch. */
  const takeBatch = (): Entry[] => {
    const batch: Entry[] = [];
    const remaining: Entry[] = [];
    // An item that has to wait also holds back later items with one of its keys, so that they keep their order.
    const waitingKeys = new Set<string>();
    let size = 0;
    for (const entry of queue) {
      const { item, keys } = entry;
      // `size` also counts entries that did not fit, so that no later entry overtakes them.
      size += sizeOf(item);
      const fits = batch.length === 0 || (batch.length < maxBatch && size <= maxBatchSize);
      if (fits && !keys.some((key) => busyKeys.has(key) || waitingKeys.has(key))) {
        batch.push(entry);
        for (const key of keys) busyKeys.add(key);
      } else {
        remaining.push(entry);
        for (const key of keys) waitingKeys.add(key);
      }
    }
    queue = remaining;
    return batch;
  };

  /** Processes a batch. Never rejects; the caller must call `settleItems`. */
  const process = async (batch: readonly Entry[], isRetry = false): Promise<BatchOutcome> => {
    try {
      const results = await flush(batch.map(({ item }) => item));
      if (results.length !== batch.length)
        throw new SafeError(`flush returned ${results.length} results for ${batch.length} items`);
      const settleItems = () => {
        for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result);
      };
      return { hasFailed: false, settleItems };
    } catch (error) {
      if (isRetry || !isRolledBack?.(error)) {
        const settleItems = () => {
          for (const { reject } of batch) reject(error);
        };
        return { hasFailed: true, settleItems };
      }
      const middle = Math.ceil(batch.length / 2);
      const halves = batch.length === 1 ? [batch] : [batch.slice(0, middle), batch.slice(middle)];
      let hasFailed = false;
      for (const half of halves) {
        const retried = await process(half, half.length === 1);
        retried.settleItems();
        hasFailed ||= retried.hasFailed;
      }
      return { hasFailed, settleItems: () => undefined };
    }
  };

  const runBatch = async (batch: readonly Entry[]): Promise<void> => {
    batchesInFlight += 1;
    let counted = batch.length;
    itemsInFlight += counted;
    const stopCounting = (): void => {
      itemsInFlight -= counted;
      counted = 0;
    };
    const slow = setTimeout(() => {
      stopCounting();
      if (queue.length > 0) schedule();
    }, slowMs);
    onBatch?.(batch.length);
    const { hasFailed, settleItems } = await process(batch);
    clearTimeout(slow);
    stopCounting();
    for (const { keys } of batch) for (const key of keys) busyKeys.delete(key);
    batchesInFlight -= 1;
    // Start the next batch first, so that the database works while this process answers the items of the finished one.
    // After a failure settle the items first: how the callers handle it may change what the next batch must do.
    if (!hasFailed) startBatches();
    settleItems();
    if (hasFailed && queue.length > 0) schedule();
    if (queue.length === 0 && batchesInFlight === 0) onIdle?.();
  };

  const startBatches = (): void => {
    scheduled = false;
    while (
      queue.length > 0 &&
      batchesInFlight < maxInFlight &&
      queue.length >= Math.min(itemsInFlight, enoughItems)
    ) {
      const batch = takeBatch();
      if (batch.length === 0) return;
      void runBatch(batch);
    }
  };

  /** Waits for the I/O of this turn, so that all requests that were read in it share a batch. */
  const schedule = (): void => {
    if (scheduled || batchesInFlight >= maxInFlight) return;
    scheduled = true;
    setImmediate(runOutside, startBatches);
  };

  /** Rejects the items that have waited for `limit` ms, and schedules itself for the time when the next one expires. */
  const rejectExpired = (limit: number): void => {
    expiry = undefined;
    const now = performance.now();
    const firstFresh = queue.findIndex(({ addedAt }) => addedAt > now - limit);
    const expired = queue.splice(0, firstFresh === -1 ? queue.length : firstFresh);
    for (const { reject } of expired) reject(tooBusyError());
    const [oldest] = queue;
    if (oldest) expiry = setTimeout(rejectExpired, oldest.addedAt + limit - now, limit).unref();
    else if (batchesInFlight === 0) onIdle?.();
  };

  return {
    /**
     * Resolves with the item's own result. Rejects with `Unavailable` (code `too_busy`) when the queue is full or the item
     * waited too long; the item is then not processed. Otherwise rejects with the error of `flush`. After a failed batch
     * the next one starts in a later turn of the event loop, when the callers have handled their rejections.
     */
    add: (item: Item): Promise<Result> =>
      new Promise((resolve, reject) => {
        if (queue.length >= maxQueue) {
          reject(tooBusyError());
          return;
        }
        queue.push({ item, keys: keysOf?.(item) ?? noKeys, addedAt: performance.now(), resolve, reject });
        if (maxWaitMs !== undefined) expiry ??= setTimeout(rejectExpired, maxWaitMs, maxWaitMs).unref();
        schedule();
      }),
    /** Number of items that are not in a batch yet. */
    waiting: (): number => queue.length,
    /** Sum of the sizes of the waiting items. */
    waitingSize: (): number => queue.reduce((sum, { item }) => sum + sizeOf(item), 0),
    [Symbol.asyncDispose]: (): Promise<void> =>
      new Promise((resolve) => {
        if (queue.length === 0 && batchesInFlight === 0) resolve();
        else onIdle = resolve;
      }),
  };
};
