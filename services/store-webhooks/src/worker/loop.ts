import { tellableError } from '../tracker/failure.ts';
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
  let stopping = false;
  let woken = false;
  let wake: () => void = () => undefined;

  const pause = async (): Promise<void> => {
    if (woken || stopping) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    // Instances that were started together should not ask together for ever.
    const timer = setTimeout(resolve, idleMs * (0.75 + Math.random() / 2));
    await promise;
    clearTimeout(timer);
  };
  const run = async (): Promise<void> => {
    while (!stopping) {
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
      wake();
    },
    [Symbol.asyncDispose]: async () => {
      stopping = true;
      wake();
      await running;
    },
  };
};
