import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Identifies a process, also after another one has got the same id. */
export interface ProcessId {
  pid: number;
  /** Start time in the unit of the system; empty when the process is gone. */
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

/** State and start time of a process. */
type State = Pick<ProcessId, 'startedAt'> & { isZombie: boolean };

/** From /proc/<pid>/stat, after the name of the command, which may contain spaces and parentheses. */
const stateInProc = (pid: number): State | undefined => {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields && { isZombie: fields[0] === 'Z', startedAt: fields[19] ?? '' };
};

/** From `ps`, on systems without /proc, such as macOS; the time has whole seconds. */
export const stateInPs = (pid: number): State | undefined => {
  const args = ['-o', 'stat=,lstart=', '-p', String(pid)];
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  const output = attempt(() => execFileSync('ps', args, { encoding: 'utf8', env }));
  const [state = '', ...started] = (output ?? '').trim().split(/\s+/);
  return state === '' ? undefined : { isZombie: state.startsWith('Z'), startedAt: started.join(' ') };
};

const hasProc = process.platform === 'linux';
const stateOf = hasProc ? stateInProc : stateInPs;

export const identify = (pid: number): ProcessId => ({ pid, startedAt: stateOf(pid)?.startedAt ?? '' });

/** Identifies this boot of the system: process ids and start times are comparable only within one boot. */
export const bootId = (): string =>
  attempt(() =>
    hasProc
      ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
      : execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }),
  )?.trim() ?? '';

/** Sends a signal to a process, or to the group of a negative id; false when it does not exist. */
export const signal = (pid: number, name: NodeJS.Signals | 0): boolean =>
  attempt(() => process.kill(pid, name)) ?? false;

/** Whether this process runs; a zombie does not. */
export const isRunning = ({ pid, startedAt }: ProcessId): boolean => {
  const now = stateOf(pid);
  return now !== undefined && now.startedAt === startedAt && !now.isZombie;
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
  const leader = stateOf(id.pid);
  if (leader === undefined || leader.startedAt === id.startedAt) signal(-id.pid, 'SIGKILL');
};

/** On a busy machine a killed process still exists for some seconds. */
const KILLED_MS = 30_000;

/** Kills all processes that run in a folder, including those that SIGSTOP suspended, and waits until they are gone. */
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
