/** Lets work begin while the memory that it needs is free. */
export interface ByteGate {
  /** Runs `work`, which needs about `bytes` of memory, when they are free or nothing else runs; in order of the calls. */
  run<T>(bytes: number, work: () => Promise<T>): Promise<T>;
}

/** Work of this size leaves so much garbage that the process would outgrow its container before V8 collects it. */
const largeBytes = 32 * 2 ** 20;

/** Takes 50 ms or more. Needs --expose-gc. */
const collectGarbage = (bytes: number): void => {
  if (bytes > largeBytes) globalThis.gc?.({ type: 'major', execution: 'sync' });
};

/** A gate for work that needs `capacity` bytes together; larger work runs alone. */
export const createByteGate = (capacity: number): ByteGate => {
  const waiting: { bytes: number; begin: () => void }[] = [];
  let used = 0;
  const admit = (): void => {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (used > 0 && used + next.bytes > capacity) return;
      waiting.shift();
      used += next.bytes;
      next.begin();
    }
  };
  return {
    run: async (bytes, work) => {
      await new Promise<void>((begin) => {
        waiting.push({ bytes, begin });
        admit();
      });
      try {
        collectGarbage(bytes);
        return await work();
      } finally {
        collectGarbage(bytes);
        used -= bytes;
        admit();
      }
    },
  };
};
