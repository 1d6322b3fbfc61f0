import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessId {
  pid: number;
  /** When it started, in the system's own unit; empty where the system has no /proc. */
  startedAt: string;
}

/** Fields of /proc/<pid>/stat after the command's name, which may itself hold blanks and brackets. */
const stat = (pid: number): string[] | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
};

export const identify = (pid: number): ProcessId => ({ pid, startedAt: stat(pid)?.[19] ?? '' });

/** Whether exactly this process still runs; a zombie does not count as running. */
export const isRunning = ({ pid, startedAt }: ProcessId): boolean => {
  if (startedAt) {
    const now = stat(pid);
    return now?.[19] === startedAt && now[0] !== 'Z';
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Numbers of the processes whose working folder is this one: PostgreSQL's children sit in its data folder. */
export const runningIn = (folder: string): number[] => {
  try {
    return readdirSync('/proc').flatMap((name) => {
      try {
        return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === folder ? [Number(name)] : [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
};

/** Sends a signal to a process, or with a negative number to its group; false when there was none. */
export const signal = (pid: number, name: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
};

/** Waits until the condition holds, asking every 20 ms; false when the limit (ms) passed first. */
export const until = async (holds: () => boolean, limitMs: number): Promise<boolean> => {
  const end = Date.now() + limitMs;
  while (!holds()) {
    if (Date.now() > end) return false;
    await sleep(20);
  }
  return true;
};

/**
 * Kills what a program left behind in its own process group, such as nginx's workers after kill -9 of their master.
 * Leaves a group alone whose number now belongs to a later process.
 */
export const killGroup = (id: ProcessId): void => {
  const leader = stat(id.pid);
  if (!leader || !id.startedAt || leader[19] === id.startedAt) signal(-id.pid, 'SIGKILL');
};

/** Stops a process with a signal, and with SIGKILL when the limit (ms) has passed; then kills the rest of its group. */
export const stop = async (id: ProcessId, name: NodeJS.Signals, limitMs: number): Promise<void> => {
  if (isRunning(id)) {
    signal(id.pid, name);
    if (!(await until(() => !isRunning(id), limitMs))) signal(id.pid, 'SIGKILL');
  }
  killGroup(id);
  await until(() => !isRunning(id), 1_000);
};
