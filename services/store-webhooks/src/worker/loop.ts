import { tellableError } from '../tracker/failure.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@platform/service-kit/log';

export interface Loop extends AsyncDisposable {
  /** There may be something to do now. */
  wake(): void;
}

/**
 * Calls `work` again as soon as it did something, else when woken or after `idleMs`. A failure is
 * logged and followed by a pause. Disposal waits for the call under way.
 */
export const startLoop = (name: string, idleMs: number, log: Log, work: () => Promise<boolean>): Loop => {
  const stopping = new AbortController();
  let waker = new AbortController();
  let woken = false;

  const pause = async (): Promise<void> => {
    if (woken || stopping.signal.aborted) return;
    waker = new AbortController();
    // Instances that were started together should not ask together for ever.
    const jittered = idleMs * (0.75 + Math.random() / 2);
    await sleep(jittered, undefined, { signal: waker.signal }).catch(() => undefined);
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      woken = false;
      try {
        if (await work()) continue;
      } catch (err) {
        log.warn({ err: tellableError(err), loop: name }, 'background work failed');
        woken = false;
      }
      await pause();
    }
  };
  const running = run();

  return {
    wake: () => {
      woken = true;
      waker.abort();
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      waker.abort();
      await running;
    },
  };
};
