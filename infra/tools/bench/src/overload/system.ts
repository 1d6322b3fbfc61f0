import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';

/** Moves this process, and what it starts from now on, to some of the cores. Needs taskset (util-linux). */
const moveTo = (cores: string): void => {
  execFileSync('taskset', ['-apc', cores, String(process.pid)], { stdio: 'ignore' });
};

/**
 * Starts a service with its database on all cores but the last, and leaves the last one to this process and the load
 * generator. Otherwise a generator that offers twice as much takes its CPU time from the service, and its goodput falls
 * for a reason that no user of the service has.
 */
export const onOwnCores = async <T>(start: () => Promise<T>): Promise<T> => {
  const last = cpus().length - 1;
  if (last === 0) throw new Error('This measurement needs two cores: one is for the load generator.');
  moveTo(`0-${last - 1}`);
  try {
    return await start();
  } finally {
    moveTo(String(last));
  }
};
