import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Identifies a process, also after another one has got the same id. */
export interface ProcessId {
  pid: number;
  /** Start time in the unit of the system; empty without /proc. */
  startedAt: string;
}

/** The result of a call; undefined when it throws, because the process is gone or the system has no /proc. */
const attempt = <T>(call: () => T): T | undefined => {
  try {
    return call();
  } catch {
    return undefined;
  }
};

/** Fields of /proc/<pid>/stat after the name of the command, which may contain spaces and parentheses. */
const stat = (pid: number): string[] | undefined => {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
};

export const identify = (pid: number): ProcessId => ({ pid, startedAt: stat(pid)?.[19] ?? '' });

/** Sends a signal to a process, or to the group of a negative id; false when it does not exist. */
export const signal = (pid: number, name: NodeJS.Signals | 0): boolean =>
  attempt(() => process.kill(pid, name)) ?? false;

/** Whether this process runs; a zombie does not. */
export const isRunning = ({ pid, startedAt }: ProcessId): boolean => {
  if (!startedAt) return signal(pid, 0);
  const now = stat(pid);
  return now?.[19] === startedAt && now[0] !== 'Z';
};

/** Ids of the processes whose working folder is this one or below it: that of PostgreSQL's children is its data folder. */
export const runningIn = (folder: string): number[] =>
  (attempt(() => readdirSync('/proc')) ?? [])
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => `${attempt(() => readlinkSync(`/proc/${pid}/cwd`)) ?? ''}/`.startsWith(`${folder}/`))
    .map(Number);

/** Waits until the condition holds, checking every 20 ms; false after `limitMs`. */
export const until = async (holds: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> => {
  const end = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > end) return false;
    await sleep(20);
  }
  return true;
};

/**
 * Kills what a program left running in its process group, such as nginx's workers after kill -9 of their master. Does
 * nothing when the id now belongs to another process.
 */
export const killGroup = (id: ProcessId): void => {
  const leader = stat(id.pid);
  if (!leader || !id.startedAt || leader[19] === id.startedAt) signal(-id.pid, 'SIGKILL');
};

/** On a busy machine a killed process still exists for some seconds. */
const KILLED_MS = 30_000;

/** Kills all processes that run in a folder, also stopped ones, and waits until they are gone. */
export const killAllIn = async (folder: string): Promise<void> => {
  for (const pid of runningIn(folder)) signal(pid, 'SIGKILL');
  await until(() => runningIn(folder).length === 0, KILLED_MS);
};

/** Stops a process with a signal, after `limitMs` with SIGKILL; then kills the rest of its group. */
export const stop = async (id: ProcessId, name: NodeJS.Signals, limitMs: number): Promise<void> => {
  if (isRunning(id)) {
    signal(id.pid, name);
    if (!(await until(() => !isRunning(id), limitMs))) signal(id.pid, 'SIGKILL');
  }
  killGroup(id);
  await until(() => !isRunning(id), KILLED_MS);
};
