import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessId } from './process.ts';

/** A process to stop, and the signal that shuts it down. */
export interface StoppableProcess extends ProcessId {
  stopSignal: NodeJS.Signals;
}

/** Message to the clean-up process: a process to stop or a path to remove after this process, or one to forget. */
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
  // Neither the process nor the pipe may keep this process alive, and their errors must not end it.
  cleanup.unref();
  cleanup.on('error', () => {});
  cleanup.stdin.on('error', () => {});
  (cleanup.stdin as unknown as { unref(): void }).unref();
  return (order) => cleanup.stdin.write(`${JSON.stringify(order)}\n`);
};

let send: ((order: CleanupOrder) => void) | undefined;

/**
 * Ensures that a process is stopped or a path removed when this process ends, even by kill -9. The first call starts the
 * clean-up process of this process.
 */
export const cleanUpAfterExit = (order: CleanupOrder): void => {
  send ??= startCleanupProcess();
  send(order);
};

/** A temporary folder and a function that removes it. */
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
  // Registered before the folder is created, because this process may be killed at any moment.
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
