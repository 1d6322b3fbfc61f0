import type { Log } from '../process/log.ts';

export interface BackgroundTask {
  /** Name of the task in the log. */
  name: string;
  /** Pause between two runs, in ms. Each pause varies by a quarter, so that instances do not run at the same time. */
  everyMs: number;
  /** Pause after a run that found nothing to do, unless `wake` or `hint` ends it. Default: `everyMs`. */
  idleMs?: number;
  /** True: begins with a pause instead of a run. */
  pauseFirst?: boolean;
  log: Log;
  /** Resolves with true if there is more to do, so that no pause follows; with false if there was nothing to do. */
  run: () => Promise<boolean | void>;
}

export type Background = ReturnType<typeof startBackground>;

/**
 * Runs a task repeatedly, one run at a time. A failed run is followed by a pause. Logs the first failure and the next success.
 * Disposal waits for the current run.
 */
export const startBackground = ({ name, everyMs, idleMs, pauseFirst = false, log, run }: BackgroundTask) => {
  let stopping = false;
  let woken = false;
  let hinted = false;
  let failing = false;
  let endPause: () => void = () => undefined;
  let endIdling: () => void = () => undefined;

  const pause = async (ms: number): Promise<void> => {
    if (woken || stopping) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    endPause = resolve;
    const timer = setTimeout(resolve, ms * (0.75 + Math.random() / 2));
    await promise;
    clearTimeout(timer);
  };
  const idle = async (ms: number): Promise<void> => {
    if (hinted) return;
    const pausing = pause(ms);
    endIdling = endPause;
    await pausing;
    endIdling = () => undefined;
  };
  const runOnce = async (): Promise<boolean | void> => {
    try {
      const hasMore = await run();
      if (failing) log.info({ task: name }, 'background task works again');
      failing = false;
      return hasMore;
    } catch (err) {
      // During disposal the resources of the task may already be closed.
      if (stopping) return undefined;
      if (!failing) log.warn({ err, task: name }, 'background task failed');
      failing = true;
      // Always pauses after a failure: if `wake` started the failed work, it would fail again immediately.
      woken = false;
      return undefined;
    }
  };
  const loop = async (): Promise<void> => {
    if (pauseFirst) await pause(everyMs);
    while (!stopping) {
      woken = false;
      hinted = false;
      const hasMore = await runOnce();
      if (hasMore === true) continue;
      await pause(everyMs);
      if (hasMore === false && idleMs !== undefined) await idle(idleMs - everyMs);
    }
  };
  const running = loop();

  return {
    /** Call it when there may be work: ends the pause at once. */
    wake: (): void => {
      woken = true;
      endPause();
    },
    /** Call it when there may be work, any number of times: the next run comes within `everyMs`. */
    hint: (): void => {
      hinted = true;
      endIdling();
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      stopping = true;
      endPause();
      await running;
    },
  };
};
