import type { Log } from '../process/log.ts';

export interface BackgroundTask {
  /** Names the task in the log. */
  name: string;
  /** Pause between two runs, in ms; each pause varies by a quarter, so that instances spread out. */
  everyMs: number;
  /** After a run that found nothing to do, the next one waits this long, or until woken; `everyMs` unless given. */
  idleMs?: number;
  log: Log;
  /** Resolves with true when there is more to do: no pause follows. With false when there was nothing to do. */
  run: () => Promise<boolean | void>;
}

/** What `startBackground` starts. */
export type Background = ReturnType<typeof startBackground>;

/**
 * Runs a task repeatedly, never twice at the same time. A run that throws is followed by a pause; the first failure is
 * logged, and so is the next success. Disposal waits for the current run.
 */
export const startBackground = ({ name, everyMs, idleMs, log, run }: BackgroundTask) => {
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
      const more = await run();
      if (failing) log.info({ task: name }, 'background task works again');
      failing = false;
      return more;
    } catch (err) {
      // Disposal may take away what the task works with.
      if (stopping) return undefined;
      if (!failing) log.warn({ err, task: name }, 'background task failed');
      failing = true;
      // The work that woke it may be what failed; without a pause it would fail again immediately.
      woken = false;
      return undefined;
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopping) {
      woken = false;
      hinted = false;
      const more = await runOnce();
      if (more === true) continue;
      await pause(everyMs);
      if (more === false && idleMs !== undefined) await idle(idleMs - everyMs);
    }
  };
  const running = loop();

  return {
    /** Ends the pause, because there may be work. */
    wake: (): void => {
      woken = true;
      endPause();
    },
    /** There may be work: the next run comes within `everyMs`, however often this is called. */
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
