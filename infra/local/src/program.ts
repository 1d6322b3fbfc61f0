import { setTimeout as sleep } from 'node:timers/promises';
import type { StoppableProcess } from './cleanup.ts';
import { stop, type ProcessId } from './process.ts';
import { say } from './say.ts';
import { endOfLog, launch, type Command, type Launched } from './spawn.ts';

/** A program to keep running. */
export interface Program {
  name: string;
  command: Command;
  /** Whether it is ready. */
  answers: () => Promise<boolean>;
  /** Says why it is not ready; undefined when it does not answer at all. */
  explain?: () => Promise<string | undefined>;
  /** Runs before each start. */
  prepare?: () => Promise<void>;
  /** How long (ms) it may take to stop before it is killed. */
  stopLimitMs: number;
}

/** Delays (ms) before a restart: doubled each time, from `first` to `longest`. */
export interface BackOff {
  first: number;
  longest: number;
  /** After running this long (ms) the next delay is the first one again. */
  steady: number;
}

/** The delay (ms) after `ran` ms of running that followed a delay of `before` ms; `before` is 0 the first time. */
export const nextDelay = ({ first, longest, steady }: BackOff, before: number, ran: number): number =>
  before === 0 || ran >= steady ? first : Math.min(before * 2, longest);

const BACK_OFF: BackOff = { first: 200, longest: 10_000, steady: 20_000 };
/** A program that ends this often before it was ever ready is not started again. */
const ENDS_BEFORE_READY = 5;

export interface RunningProgram {
  /** The current process; undefined between two of them. */
  readonly id: ProcessId | undefined;
  /**
   * Waits until the program answers.
   * @throws after `limitMs`, or at once when it will not be started again or ends after a restart; the message has the
   * explanation or the end of its log
   */
  ready: (limitMs: number) => Promise<void>;
  /** Ends the current process, and starts the next one at once: `ready` waits for that one. */
  restart: () => Promise<void>;
  /** Stops it, and it is not started again; 'now' kills it. */
  stop: (how?: 'now') => Promise<void>;
}

interface Options {
  /** Called after each start and end. */
  onChange?: () => void;
  /** False: never start it again. */
  backOff?: BackOff | false;
}

/** Starts a program, and starts it again whenever it ends. */
export const keepRunning = (
  program: Program,
  { onChange = () => {}, backOff = BACK_OFF }: Options = {},
): RunningProgram => {
  const { name, command, answers, explain, prepare, stopLimitMs } = program;
  const stopping = new AbortController();
  let current: Launched | undefined;
  /** Aborted by `restart`, which also ends the pause before the next start. */
  let restarting = new AbortController();
  let ends = 0;
  let wasReady = false;
  const isGivenUp = (): boolean => (backOff ? !wasReady && ends >= ENDS_BEFORE_READY : ends > 0);

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
      if (!backOff || isGivenUp()) return;
      delay = nextDelay(backOff, delay, performance.now() - since);
      say(`${name} ${reason}; next start in ${delay} ms`);
      // Rejects when `stop` or `restart` ends the pause.
      const signal = AbortSignal.any([stopping.signal, restarting.signal]);
      await sleep(delay, undefined, { signal }).catch(() => {});
      if (stopping.signal.aborted) return;
    }
  };
  const finished = loop();
  const isReady = async (): Promise<boolean> => current !== undefined && answers();

  return {
    get id() {
      return current?.id;
    },
    ready: async (limitMs) => {
      const end = Date.now() + limitMs;
      const endsBefore = ends;
      // One that was ready before is started again after any end, but a restart that fails is an error at once.
      const hasFailed = (): boolean => isGivenUp() || (wasReady && ends > endsBefore);
      while (!(await isReady())) {
        if (stopping.signal.aborted) throw new Error(`${name} was stopped`);
        if (hasFailed() || Date.now() > end) {
          const what = hasFailed()
            ? `${name} ended ${ends - endsBefore === 1 ? 'at once' : `${ends} times`}`
            : `${name} was not ready after ${limitMs / 1_000} s`;
          const reason = hasFailed() ? undefined : await explain?.();
          if (reason !== undefined) throw new Error(`${what}: ${reason}; its log: ${command.logFile}`);
          throw new Error(`${what}; the end of ${command.logFile}:\n${await endOfLog(command.logFile)}`);
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
      // Until then `ready` would take the old process for the new one.
      await ended;
    },
    stop: async (how) => {
      stopping.abort();
      if (current) await stop(current.id, how === 'now' ? 'SIGKILL' : command.stopSignal, stopLimitMs);
      await finished;
    },
  };
};

/** Programs stop in this order: each before the ones that it depends on. */
const STOP_ORDER = ['gateway', 'service', 'redis', 'postgres'] as const;
type Role = (typeof STOP_ORDER)[number];

/** A program that is not ready again after this time has an error in its code or settings. */
const RESTART_LIMIT_MS = 60_000;

/** Keeps all programs of a stack running. */
export interface Supervisor {
  start: (role: Role, program: Program) => RunningProgram;
  /** The processes that run now. */
  running: () => (StoppableProcess & { name: string })[];
  /** Process id of a program, or null when it does not run. */
  pid: (name: string) => number | null;
  /**
   * Restarts a program and waits until it is ready.
   * @throws with the end of its log when it does not come up
   */
  restart: (name: string) => Promise<void>;
  /** Stops all programs, role by role; 'now' kills all at once. Nothing can be started afterwards. */
  stop: (how?: 'now') => Promise<void>;
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
  const stopRole = (role: Role, how?: 'now'): Promise<unknown> =>
    Promise.all(members.filter((one) => one.role === role).map(({ running }) => running.stop(how)));

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
    stop: async (how) => {
      stopping = true;
      if (how === 'now') await Promise.all(STOP_ORDER.map((role) => stopRole(role, how)));
      else for (const role of STOP_ORDER) await stopRole(role);
    },
  };
};
