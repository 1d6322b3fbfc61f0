import { createFairQueue } from './fair-queue.ts';
import { TooBusy } from '../http/problem.ts';
import { currentRequest } from './request-scope.ts';

/** What `createByteGate` makes. */
export type ByteGate = ReturnType<typeof createByteGate>;

export interface ByteGateOptions {
  /** Bytes of all work that runs; larger work runs alone. */
  capacity: number;
  /** Work that may wait behind the next; with more, the newest of the client with the most is refused. */
  maxWaiting: number;
  maxWaitMs: number;
}

interface Waiting {
  bytes: number;
  begin(): void;
  giveUp(): void;
}

/** Work of this size leaves so much garbage that the process would outgrow its container before V8 collects it. */
const largeBytes = 32 * 2 ** 20;

/** Takes 50 ms or more. Needs --expose-gc. */
const collectGarbage = (bytes: number): void => {
  if (bytes > largeBytes) globalThis.gc?.({ type: 'major', execution: 'sync' });
};

const tooBusy = (): TooBusy => new TooBusy('Too many large lists are read or written; try again shortly.');

/** Lets work begin while the memory that it needs is free. */
export const createByteGate = ({ capacity, maxWaiting, maxWaitMs }: ByteGateOptions) => {
  const waiting = createFairQueue<Waiting>();
  /** Whose turn has come; it waits for memory. */
  let next: Waiting | undefined;
  let used = 0;

  const admit = (): void => {
    for (next ??= waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (used > 0 && used + next.bytes > capacity) return;
      used += next.bytes;
      next.begin();
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
      const begin = (): void => {
        leave();
        resolve();
      };
      const item = { bytes, begin, giveUp };
      const timer = setTimeout(giveUp, maxWaitMs);
      scope?.onCancel.add(giveUp);
      waiting.push(client, item);
      admit();
      if (waiting.size > maxWaiting) waiting.dropLargest()?.giveUp();
    });

  return {
    /**
     * Runs `work`, which needs about `bytes` of memory, when they are free or nothing else runs. Clients take turns. Rejects
     * with `TooBusy` when too much waits or for too long, and when the request is cancelled while it waits.
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
