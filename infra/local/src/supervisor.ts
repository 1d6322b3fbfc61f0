import { setTimeout as sleep } from 'node:timers/promises';
import type { StoppableProcess } from './cleanup.ts';
import { stop, type ProcessId } from './process.ts';
import { print } from './print.ts';
import { endOfLog, launch, type Command, type Launched } from './spawn.ts';

/** A program to keep running. */
export interface Program {
  name: string;
  command: Command;
  /** Returns whether it is ready. */
  isReady: () => Promise<boolean>;
  /** Returns why it is not ready; undefined if it does not respond at all. */
  explain?: () => Promise<string | undefined>;
  /** Runs before each start. */
  prepare?: () => Promise<void>;
  /** Time (ms) to stop before it is killed. */
  stopLimitMs: number;
}

/** Delays (ms) before a restart. Each delay doubles, from `first` up to `longest`. */
export interface BackOff {
  first: number;
  longest: number;
  /** If the program ran at least this long (ms), the next delay is `first` again. */
  steady: number;
}

/** The next delay (ms), after a delay of `previousDelay` ms (0 before the first) and a run of `ranMs` ms. */
export const nextDelay = (
  { first, longest, steady }: BackOff,
  previousDelay: number,
  ranMs: number,
): number => (previousDelay === 0 || ranMs >= steady ? first : Math.min(previousDelay * 2, longest));

const BACK_OFF: BackOff = { first: 200, longest: 10_000, steady: 20_000 };
/** A program that ends this often before it was ready once is not started again. */
const MAX_ENDS_BEFORE_READY = 5;

export interface RunningProgram {
  /** The current process; undefined while none runs. */
  readonly id: ProcessId | undefined;
  /**
   * Waits until the program is ready.
   * @throws after `limitMs`, or at once if it will not be started again or ends after a restart. The message contains the
   * explanation or the last lines of its log
   */
  ready: (limitMs: number) => Promise<void>;
  /** Stops the current process and starts the next one at once; `ready` then waits for the next one. */
  restart: () => Promise<void>;
  /** Stops it for good; 'now' kills it. */
  stop: (urgency?: 'now') => Promise<void>;
}

interface Options {
  /** Called after each start and end. */
  onChange?: () => void;
  /** False: do not start it again after it ends. */
  backOff?: BackOff | false;
}

/** Starts a program and restarts it whenever it ends. */
export const keepRunning = (
  program: Program,
  { onChange = () => {}, backOff = BACK_OFF }: Options = {},
): RunningProgram => {
  const { name, command, isReady, explain, prepare, stopLimitMs } = program;
  const stopping = new AbortController();
  let current: Launched | undefined;
  /** Aborted by `restart`, which also ends the pause before the next start. */
  let restarting = new AbortController();
  let ends = 0;
  let wasReady = false;
  const hasGivenUp = (): boolean => (backOff ? !wasReady && ends >= MAX_ENDS_BEFORE_READY : ends > 0);

  const runOnce = async (): Promise<string> => {
    try {
      await prepare?.();
      if (stopping.signal.aborted) return 'was not started';
      current = await launch(command);
      if (stopping.signal.aborted) await stop(current.id, command.stopSignal, stopLimitMs);
      onChange();
      return await current.ended;
    } catch (error) {
      return `did not start: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      current = undefined;
    }
  };

  const loop = async (): Promise<void> => {
    for (let delay = 0; ;) {
      if (restarting.signal.aborted) {
        restarting = new AbortController();
        delay = 0;
      }
      const since = performance.now();
      const reason = await runOnce();
      if (stopping.signal.aborted) return;
      onChange();
      if (restarting.signal.aborted) continue;
      ends += 1;
      if (!backOff || hasGivenUp()) return;
      delay = nextDelay(backOff, delay, performance.now() - since);
      print(`${name} ${reason}; next start in ${delay} ms`);
      // Rejects when `stop` or `restart` ends the pause.
      const signal = AbortSignal.any([stopping.signal, restarting.signal]);
      await sleep(delay, undefined, { signal }).catch(() => {});
      if (stopping.signal.aborted) return;
    }
  };
  const finished = loop();
  const isRunningAndReady = async (): Promise<boolean> => current !== undefined && isReady();

  return {
    get id() {
      return current?.id;
    },
    ready: async (limitMs) => {
      const end = Date.now() + limitMs;
      const endsBefore = ends;
      // A program that was ready before is restarted after any end, but this call fails as soon as a restart fails.
      const hasFailed = (): boolean => hasGivenUp() || (wasReady && ends > endsBefore);
      while (!(await isRunningAndReady())) {
        if (stopping.signal.aborted) throw new Error(`${name} was stopped`);
        if (hasFailed() || Date.now() > end) {
          const problem = hasFailed()
            ? `${name} ended ${ends - endsBefore === 1 ? 'at once' : `${ends} times`}`
            : `${name} was not ready after ${limitMs / 1_000} s`;
          const reason = hasFailed() ? undefined : await explain?.();
          if (reason !== undefined) throw new Error(`${problem}: ${reason}; its log: ${command.logFile}`);
          throw new Error(`${problem}; the end of ${command.logFile}:\n${await endOfLog(command.logFile)}`);
        }
        await sleep(30);
      }
      wasReady = true;
    },
    restart: async () => {
      restarting.abort();
      if (!current) return;
      const { id, ended } = current;
      await stop(id, command.stopSignal, stopLimitMs);
      // Until the old process has ended, `ready` would mistake it for the new one.
      await ended;
    },
    stop: async (urgency) => {
      stopping.abort();
      if (current) await stop(current.id, urgency === 'now' ? 'SIGKILL' : command.stopSignal, stopLimitMs);
      await finished;
    },
  };
};

/** Programs stop in this order, so that each one stops before the programs that it depends on. */
const STOP_ORDER = ['gateway', 'service', 'redis', 'postgres'] as const;
type Role = (typeof STOP_ORDER)[number];

/** If a program is not ready again after this time, its code or settings are wrong. */
const RESTART_LIMIT_MS = 60_000;

/** Keeps all programs of a stack running. */
export interface Supervisor {
  start: (role: Role, program: Program) => RunningProgram;
  /** The current processes. */
  running: () => (StoppableProcess & { name: string })[];
  /** Process id of a program; null if it is not running. */
  pid: (name: string) => number | null;
  /**
   * Restarts a program and waits until it is ready.
   * @throws with the last lines of its log if it does not become ready
   */
  restart: (name: string) => Promise<void>;
  /** Stops all programs, one role after another; 'now' kills all at the same time. Nothing can be started afterwards. */
  stop: (urgency?: 'now') => Promise<void>;
}

interface Member {
  role: Role;
  program: Program;
  running: RunningProgram;
}

/** @param onChange called whenever a program starts or ends */
export const createSupervisor = (onChange: () => void): Supervisor => {
  const members: Member[] = [];
  let stopping = false;

  const find = (name: string): RunningProgram | undefined =>
    members.find(({ program }) => program.name === name)?.running;
  const stopRole = (role: Role, urgency?: 'now'): Promise<unknown> =>
    Promise.all(members.filter((member) => member.role === role).map(({ running }) => running.stop(urgency)));

  return {
    start: (role, program) => {
      if (stopping) throw new Error(`${program.name} was not started: the stack is stopping`);
      const running = keepRunning(program, { onChange });
      members.push({ role, program, running });
      return running;
    },
    running: () =>
      members.flatMap(({ program, running: { id } }) =>
        id ? [{ ...id, name: program.name, stopSignal: program.command.stopSignal }] : [],
      ),
    pid: (name) => find(name)?.id?.pid ?? null,
    restart: async (name) => {
      await find(name)?.restart();
      await find(name)?.ready(RESTART_LIMIT_MS);
    },
    stop: async (urgency) => {
      stopping = true;
      if (urgency === 'now') await Promise.all(STOP_ORDER.map((role) => stopRole(role, urgency)));
      else for (const role of STOP_ORDER) await stopRole(role);
    },
  };
};
