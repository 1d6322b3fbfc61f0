import type { Program, Supervised } from './supervisor.ts';
import { supervise } from './supervisor.ts';
import type { Watched } from './watch.ts';

/** The order in which programs are stopped: who asks goes before whom it asks. */
const ORDER = ['gateway', 'service', 'redis', 'postgres'] as const;
export type Role = (typeof ORDER)[number];

/** All programs of a stack. */
export interface Crew {
  start: (role: Role, program: Program) => Supervised;
  /** Those that run now. */
  running: () => (Watched & { name: string })[];
  /** The process of the program of this name, or null when it does not run. */
  pid: (name: string) => number | null;
  /** Ends all of them, role by role; "now" kills all at once. Nothing starts any more. */
  stop: (how?: 'now') => Promise<void>;
}

interface Member {
  role: Role;
  program: Program;
  supervised: Supervised;
}

/** @param changed called whenever a program starts or ends */
export const assembleCrew = (changed: () => void): Crew => {
  const members: Member[] = [];
  let stopping = false;

  const stopRole = (role: Role, how?: 'now'): Promise<unknown> =>
    Promise.all(members.filter((one) => one.role === role).map(({ supervised }) => supervised.stop(how)));

  return {
    start: (role, program) => {
      if (stopping) throw new Error(`${program.name} was not started: the stack is stopping`);
      const supervised = supervise(program, changed);
      members.push({ role, program, supervised });
      return supervised;
    },
    running: () =>
      members.flatMap(({ program, supervised: { id } }) =>
        id ? [{ ...id, name: program.name, stopSignal: program.command.stopSignal }] : [],
      ),
    pid: (name) => members.find(({ program }) => program.name === name)?.supervised.id?.pid ?? null,
    stop: async (how) => {
      stopping = true;
      if (how === 'now') await Promise.all(ORDER.map((role) => stopRole(role, how)));
      else for (const role of ORDER) await stopRole(role);
    },
  };
};
