import { createFairQueue } from './fair-queue.ts';
import { TooBusy } from '../http/problem.ts';
import { currentRequest } from './request-scope.ts';

export type ByteGate = ReturnType<typeof createByteGate>;

export interface ByteGateOptions {
  /** Maximum bytes of all running work. Work that needs more runs alone. */
  capacity: number;
  /** Maximum amount of waiting work, not counting the next one. Beyond it, the newest of the client with the most is refused. */
  maxWaiting: number;
  maxWaitMs: number;
}

interface Waiting {
  bytes: number;
  start(): void;
  giveUp(): void;
}

/** Work above this size leaves so much garbage that the process would exceed its container's memory before V8 collects it. */
const largeBytes = 32 * 2 ** 20;

/** Takes 50 ms or more. Needs --expose-gc. */
const collectGarbage = (bytes: number): void => {
  if (bytes > largeBytes) globalThis.gc?.({ type: 'major', execution: 'sync' });
};

const tooBusy = (): TooBusy => new TooBusy('Too many large lists are read or written; try again shortly.');

/** Creates a gate that starts work only while the memory that it needs is free. */
export const createByteGate = ({ capacity, maxWaiting, maxWaitMs }: ByteGateOptions) => {
  const waiting = createFairQueue<Waiting>();
  /** The work whose turn it is; it waits for memory. */
  let next: Waiting | undefined;
  let used = 0;

  const admit = (): void => {
    for (next ??= waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (used > 0 && used + next.bytes > capacity) return;
      used += next.bytes;
      next.start();
    }
  };
  const wait = (bytes: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const scope = currentRequest();
      if (scope?.cancelled) throw scope.cancelled;
      const client = scope?.client() ?? [''];
      const leave = (): void => {
        clearTimeout(timer);
        scope?.onCancel.delete(giveUp);
        if (next === item) next = undefined;
        else waiting.remove(client, item);
      };
      const giveUp = (): void => {
        leave();
        reject(scope?.cancelled ?? tooBusy());
        admit();
      };
      const start = (): void => {
        leave();
        resolve();
      };
      const item = { bytes, start, giveUp };
      const timer = setTimeout(giveUp, maxWaitMs);
      scope?.onCancel.add(giveUp);
      waiting.push(client, item);
      admit();
      if (waiting.size > maxWaiting) waiting.dropLargest()?.giveUp();
    });

  return {
    /**
     * Runs `work`, which needs about `bytes` of memory, when they are free or nothing else runs. Clients take turns. Rejects
     * with `TooBusy` if too much work waits or this work waits too long, and if the request is cancelled while it waits.
     */
    run: async <T>(bytes: number, work: () => Promise<T>): Promise<T> => {
      await wait(bytes);
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
