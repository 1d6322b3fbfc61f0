import type { ChildProcess } from 'node:child_process';
import { cleanUpAfterExit } from '../cleanup.ts';
import { identify } from '../process.ts';

/** Ensures that a child process is killed if this process ends first. */
export const killAfterExit = (child: ChildProcess): void => {
  const { pid } = child;
  if (pid === undefined) return;
  cleanUpAfterExit({ process: { ...identify(pid), stopSignal: 'SIGKILL' } });
  child.once('exit', () => cleanUpAfterExit({ endedPid: pid }));
};
