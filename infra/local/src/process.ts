import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Identifies a process, even if its id is later reused for another one. */
export interface ProcessId {
  pid: number;
  /** Start time in the format of the system; empty if the process has ended. */
  startedAt: string;
}

/** Returns the result of a call; undefined if it throws, because the process has ended or the system has no /proc. */
const attempt = <T>(call: () => T): T | undefined => {
  try {
    return call();
  } catch {
    return undefined;
  }
};

/** State and start time of a process. */
type State = Pick<ProcessId, 'startedAt'> & { isZombie: boolean };

/** Reads the fields of /proc/<pid>/stat after the command name, which may contain spaces and parentheses. */
const stateInProc = (pid: number): State | undefined => {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields && { isZombie: fields[0] === 'Z', startedAt: fields[19] ?? '' };
};

/** Runs `ps` on systems without /proc, such as macOS; the time is in whole seconds. */
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

/** Sends a signal to a process, or to a process group if the id is negative; false if it does not exist. */
export const signal = (pid: number, name: NodeJS.Signals | 0): boolean =>
  attempt(() => process.kill(pid, name)) ?? false;

/** Returns whether this process is running; a zombie is not. */
export const isRunning = ({ pid, startedAt }: ProcessId): boolean => {
  const now = stateOf(pid);
  return now !== undefined && now.startedAt === startedAt && !now.isZombie;
};

/** Ids of the processes whose working folder is this folder or below it, such as PostgreSQL and its child processes. */
export const runningIn = (folder: string): number[] =>
  (attempt(() => readdirSync('/proc')) ?? [])
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => `${attempt(() => readlinkSync(`/proc/${pid}/cwd`)) ?? ''}/`.startsWith(`${folder}/`))
    .map(Number);

/** Checks the condition every 20 ms until it is true; false after `limitMs`. */
export const until = async (holds: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> => {
  const end = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > end) return false;
    await sleep(20);
  }
  return true;
};

/**
 * Kills the processes that a program left in its process group, such as nginx's workers after kill -9 of their master.
 * Does nothing if the id now belongs to another process.
 */
export const killGroup = (id: ProcessId): void => {
  const leader = stateOf(id.pid);
  if (leader === undefined || leader.startedAt === id.startedAt) signal(-id.pid, 'SIGKILL');
};

/** On a busy machine a killed process may exist for some more seconds. */
const KILL_LIMIT_MS = 30_000;

/** Kills all processes that run in a folder, including suspended ones (SIGSTOP), and waits until they have ended. */
export const killAllIn = async (folder: string): Promise<void> => {
  for (const pid of runningIn(folder)) signal(pid, 'SIGKILL');
  await until(() => runningIn(folder).length === 0, KILL_LIMIT_MS);
};

/** Stops a process with a signal, and with SIGKILL after `limitMs`; then kills the other processes of its group. */
export const stop = async (id: ProcessId, name: NodeJS.Signals, limitMs: number): Promise<void> => {
  if (isRunning(id)) {
    signal(id.pid, name);
    if (!(await until(() => !isRunning(id), limitMs))) signal(id.pid, 'SIGKILL');
  }
  killGroup(id);
  await until(() => !isRunning(id), KILL_LIMIT_MS);
};
