/** Thrown at once when more are waiting than the queue holds. */
export class QueueFull extends Error {
  override name = 'QueueFull';
}

export interface GroupCommitOptions<Item, Outcome> {
  /** Commits items together; outcomes in their order. A rejection means that nothing is known of any. */
  commit(items: readonly Item[]): Promise<Outcome[]>;
  /** What two items of one batch must not share. */
  keysOf(item: Item): readonly string[];
  /** Whether it is certain that nothing was committed, so that each item may have a second try by itself. */
  worthRetrying(error: unknown): boolean;
  maxBatch: number;
  maxQueue: number;
  /** Batches on their way at once. */
  maxInFlight: number;
  onBatch?(size: number): void;
}

export interface GroupCommit<Item, Outcome> extends AsyncDisposable {
  /** Resolves after the commit. Rejects with QueueFull, or with what the commit failed with. */
  submit(item: Item): Promise<Outcome>;
  /** Items that no batch has taken yet. */
  waiting(): number;
}

interface Waiting<Item, Outcome> {
  item: Item;
  keys: readonly string[];
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/**
 * Commits what is waiting together. A batch is what came while the one before it was on its way, so
 * nobody waits for company: a lone item leaves in the same turn of the event loop it came in.
 */
export const createGroupCommit = <Item, Outcome>(
  options: GroupCommitOptions<Item, Outcome>,
): GroupCommit<Item, Outcome> => {
  const { commit, keysOf, worthRetrying, maxBatch, maxQueue, maxInFlight, onBatch } = options;
  type One = Waiting<Item, Outcome>;
  let queue: One[] = [];
  let inFlight = 0;
  /** Items of the batches on their way. */
  let travelling = 0;
  let scheduled = false;
  const busy = new Set<string>();
  let idle: (() => void) | undefined;

  /** The longest-waiting items that share no key with each other nor with a batch on its way. */
  const take = (): One[] => {
    const batch: One[] = [];
    const left: One[] = [];
    for (const waiting of queue) {
      if (batch.length < maxBatch && !waiting.keys.some((key) => busy.has(key))) {
        batch.push(waiting);
        for (const key of waiting.keys) busy.add(key);
      } else left.push(waiting);
    }
    queue = left;
    return batch;
  };

  const settle = async (batch: readonly One[], again = false): Promise<void> => {
    try {
      const outcomes = await commit(batch.map(({ item }) => item));
      for (const [at, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[at];
        if (outcome === undefined) reject(new Error('the commit gave no outcome'));
        else resolve(outcome);
      }
    } catch (error) {
      if (!again && worthRetrying(error)) for (const one of batch) await settle([one], true);
      else for (const { reject } of batch) reject(error);
    }
  };

  const run = async (batch: One[]): Promise<void> => {
    inFlight += 1;
    travelling += batch.length;
    onBatch?.(batch.length);
    await settle(batch);
    for (const { keys } of batch) for (const key of keys) busy.delete(key);
    inFlight -= 1;
    travelling -= batch.length;
    if (queue.length > 0) schedule();
    else if (inFlight === 0) idle?.();
  };

  /** Another batch joins those on their way only when it is as large: two halves overlap, scraps only cost. */
  const start = (): void => {
    scheduled = false;
    while (inFlight < maxInFlight && queue.length >= travelling) {
      const batch = take();
      if (batch.length === 0) return;
      void run(batch);
    }
  };

  /** After the I/O of this turn: all requests that were read in it travel together. */
  const schedule = (): void => {
    if (scheduled || inFlight >= maxInFlight) return;
    scheduled = true;
    setImmediate(start);
  };

  return {
    submit: (item) =>
      new Promise((resolve, reject) => {
        if (queue.length >= maxQueue) {
          reject(new QueueFull('too many are waiting'));
          return;
        }
        queue.push({ item, keys: keysOf(item), resolve, reject });
        schedule();
      }),
    waiting: () => queue.length,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        if (queue.length === 0 && inFlight === 0) resolve();
        else idle = resolve;
      }),
  };
};
