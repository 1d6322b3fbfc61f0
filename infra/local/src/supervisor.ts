import type { StoppableProcess } from './cleanup.ts';
import { keepRunning, type Program, type RunningProgram } from './program.ts';

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
