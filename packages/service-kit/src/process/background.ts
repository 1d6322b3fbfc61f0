import type { Log } from './log.ts';

export interface BackgroundTask {
  /** Names the task in the log. */
  name: string;
  /** Pause between two runs, in ms; each pause varies by a quarter, so that instances spread out. */
  everyMs: number;
  log: Log;
  /** Resolves with true when there is more to do; then the next run follows without a pause. */
  run: () => Promise<boolean | void>;
}

export interface Background extends AsyncDisposable {
  /** Ends the pause, because there may be work. */
  wake(): void;
}

/**
 * Runs a task repeatedly, never twice at the same time. A run that throws is followed by a pause; the first failure is
 * logged, and so is the next success. Disposal waits for the current run.
 */
export const startBackground = ({ name, everyMs, log, run }: BackgroundTask): Background => {
  let stopping = false;
  let woken = false;
  let failing = false;
  let endPause: () => void = () => undefined;

  const pause = async (): Promise<void> => {
    if (woken || stopping) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    endPause = resolve;
    const timer = setTimeout(resolve, everyMs * (0.75 + Math.random() / 2));
    await promise;
    clearTimeout(timer);
  };
  const runOnce = async (): Promise<boolean> => {
    try {
      const more = (await run()) === true;
      if (failing) log.info({ task: name }, 'background task works again');
      failing = false;
      return more;
    } catch (err) {
      // Disposal may take away what the task works with.
      if (stopping) return false;
      if (!failing) log.warn({ err, task: name }, 'background task failed');
      failing = true;
      // The work that woke it may be what failed; without a pause it would fail again immediately.
      woken = false;
      return false;
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopping) {
      woken = false;
      if (!(await runOnce())) await pause();
    }
  };
  const running = loop();

  return {
    wake: () => {
      woken = true;
      endPause();
    },
    [Symbol.asyncDispose]: async () => {
      stopping = true;
      endPause();
      await running;
    },
  };
};
