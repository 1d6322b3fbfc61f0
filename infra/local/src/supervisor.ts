import { setTimeout as sleep } from 'node:timers/promises';
import { launch, type Command, type Launched } from './command.ts';
import { lastLines } from './server.ts';
import { stop, type ProcessId } from './process-table.ts';
import { say } from './say.ts';

/** A program that is kept running. */
export interface Program {
  name: string;
  command: Command;
  /** Whether it is ready for work. */
  answers: () => Promise<boolean>;
  /** Runs before each start. */
  prepare?: () => Promise<void>;
  /** How long (ms) it may take to stop before it is killed. */
  stopLimitMs: number;
}

/** Waits (ms) between a death and the next start: doubled each time, from `first` to `longest`. */
export interface BackOff {
  first: number;
  longest: number;
  /** Who lived this long is well again, and the next wait is the first one. */
  steady: number;
}

/** The wait (ms) after a life of `lived` ms that followed a wait of `before` ms; `before` is 0 at the first death. */
export const nextWait = ({ first, longest, steady }: BackOff, before: number, lived: number): number =>
  before === 0 || lived >= steady ? first : Math.min(before * 2, longest);

const BACK_OFF: BackOff = { first: 200, longest: 10_000, steady: 20_000 };
/** Deaths before the program was ready for the first time, after which it is given up. */
const DEATHS_AT_FIRST = 5;

export interface Supervised {
  name: string;
  /** The process that runs now, if one does. */
  readonly id: ProcessId | undefined;
  /**
   * Waits until the program answers.
   * @throws with the end of its log when the limit (ms) passes, or when it keeps dying
   */
  ready: (limitMs: number) => Promise<void>;
  /** Ends it for good: in good order, or by force at once. */
  stop: (how?: 'now') => Promise<void>;
}

/**
 * Starts a program and starts it again whenever it ends.
 * @param changed called after each start and end
 */
export const supervise = (program: Program, changed: () => void, backOff: BackOff = BACK_OFF): Supervised => {
  const { name, command, answers, prepare, stopLimitMs } = program;
  const stopping = new AbortController();
  let current: Launched | undefined;
  let deaths = 0;
  let wasReady = false;
  const isHopeless = (): boolean => !wasReady && deaths >= DEATHS_AT_FIRST;

  const live = async (): Promise<string> => {
    try {
      await prepare?.();
      if (stopping.signal.aborted) return 'not started';
      current = await launch(command);
      if (stopping.signal.aborted) await stop(current.id, command.stopSignal, stopLimitMs);
      changed();
      return await current.ended;
    } catch (error) {
      return `did not start: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      current = undefined;
    }
  };

  const keepAlive = async (): Promise<void> => {
    for (let wait = 0; ;) {
      const since = performance.now();
      const how = await live();
      if (stopping.signal.aborted) return;
      deaths += 1;
      changed();
      if (isHopeless()) return;
      wait = nextWait(backOff, wait, performance.now() - since);
      say(`${name} ${how}; starts again in ${wait} ms`);
      await sleep(wait, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
    }
  };
  const alive = keepAlive();
  const isReady = async (): Promise<boolean> => current !== undefined && answers();

  return {
    name,
    get id() {
      return current?.id;
    },
    ready: async (limitMs) => {
      const end = Date.now() + limitMs;
      while (!(await isReady())) {
        if (stopping.signal.aborted) throw new Error(`${name} was stopped`);
        if (isHopeless() || Date.now() > end) {
          const what = isHopeless()
            ? `${name} died ${deaths} times`
            : `${name} was not ready after ${limitMs / 1_000} s`;
          throw new Error(`${what}; the end of ${command.logFile}:\n${await lastLines(command.logFile)}`);
        }
        await sleep(50);
      }
      wasReady = true;
    },
    stop: async (how) => {
      stopping.abort();
      if (current) await stop(current.id, how === 'now' ? 'SIGKILL' : command.stopSignal, stopLimitMs);
      await alive;
    },
  };
};
