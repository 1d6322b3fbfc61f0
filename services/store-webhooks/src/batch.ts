interface Waiting<T, R> {
  item: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}

interface BatchOptions {
  /** Items in one run at most. */
  maxItems: number;
  /** Runs under way at once at most. */
  inFlight: number;
}

/**
 * Gathers calls into runs: what arrives while a run is under way goes with the next one, and a lone
 * call waits for nothing but the end of the current turn of the event loop.
 *
 * `run` gives one result for each item, in order. When it rejects, every call of that run rejects.
 */
export const inBatches = <T, R>(
  run: (items: T[]) => Promise<readonly R[]>,
  { maxItems, inFlight }: BatchOptions,
): ((item: T) => Promise<R>) => {
  let waiting: Waiting<T, R>[] = [];
  let running = 0;
  let scheduled = false;

  const start = async (batch: Waiting<T, R>[]): Promise<void> => {
    running++;
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as R);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running--;
      schedule();
    }
  };
  const flush = (): void => {
    scheduled = false;
    while (running < inFlight && waiting.length > 0) {
      const batch = waiting.slice(0, maxItems);
      waiting = waiting.slice(maxItems);
      void start(batch);
    }
  };
  const schedule = (): void => {
    if (scheduled || running >= inFlight || waiting.length === 0) return;
    scheduled = true;
    // After the poll phase: by then every socket that has something to say has been read.
    setImmediate(flush);
  };

  return (item) =>
    new Promise<R>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
};
