import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessId } from './process.ts';

/** A process to stop, and the signal that makes it shut down. */
export interface StoppableProcess extends ProcessId {
  stopSignal: NodeJS.Signals;
}

/** One line to the clean-up process: what to stop or remove after this process, and what no longer. */
export interface CleanupOrder {
  process?: StoppableProcess;
  endedPid?: number;
  path?: string;
  removedPath?: string;
}

const startCleanupProcess = (): ((order: CleanupOrder) => void) => {
  const file = fileURLToPath(new URL('./cleanup-process.ts', import.meta.url));
  const cleanup = spawn(process.execPath, [file], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Neither the process nor the pipe may keep this process alive, and their failure must not end it.
  cleanup.unref();
  cleanup.on('error', () => {});
  cleanup.stdin.on('error', () => {});
  (cleanup.stdin as unknown as { unref(): void }).unref();
  return (order) => cleanup.stdin.write(`${JSON.stringify(order)}\n`);
};

let send: ((order: CleanupOrder) => void) | undefined;

/**
 * Makes sure that a process is stopped or a path removed when this process ends, even by kill -9. The first call starts
 * the clean-up process; there is one for each process.
 */
export const cleanUpAfterExit = (order: CleanupOrder): void => {
  send ??= startCleanupProcess();
  send(order);
};

/** A temporary folder, and how to remove it. */
export interface TemporaryFolder {
  path: string;
  remove: () => Promise<void>;
}

/** Creates a folder that the account owns. It is removed when this process ends. */
export const temporaryFolder = async (
  account?: { uid: number; gid: number },
  parent = tmpdir(),
): Promise<TemporaryFolder> => {
  const path = join(await realpath(parent), `platform-${randomBytes(6).toString('hex')}`);
  // First, because this process may be killed at any moment.
  cleanUpAfterExit({ path });
  await mkdir(path, { mode: 0o700 });
  if (account) await chown(path, account.uid, account.gid);
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true });
      cleanUpAfterExit({ removedPath: path });
    },
  };
};
