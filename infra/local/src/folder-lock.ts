import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoppableProcess } from './cleanup.ts';
import { readJson, writeJson } from './files.ts';
import { bootId, identify, isRunning, stop, type ProcessId } from './process.ts';

/** Content of processes.json: the `start` that uses a local folder, and its programs. */
interface Owner {
  /** In a copied folder this is another path, and the processes belong to the original. */
  folder: string;
  /** After a restart of the system the ids belong to other processes. */
  boot: string;
  owner: ProcessId;
  children: (StoppableProcess & { name: string })[];
}

const STOP_LIMIT_MS = 10_000;

/** A local folder that this process alone uses. */
export interface FolderLock {
  /** Writes down the running programs, so that the next start can stop them should this one be killed. */
  record: (children: Owner['children']) => void;
  release: () => Promise<void>;
}

/**
 * Locks a local folder for this process, after stopping what an earlier start that was killed left running.
 * @returns the lock and the names of the programs that it stopped
 * @throws when another start uses the folder
 */
export const lockFolder = async (folder: string): Promise<{ lock: FolderLock; stopped: string[] }> => {
  const path = join(folder, 'processes.json');
  const recorded = await readJson<Owner>(path);
  const boot = bootId();
  const before = recorded?.folder === folder && recorded.boot === boot ? recorded : undefined;
  if (before && before.owner.pid !== process.pid && isRunning(before.owner)) {
    throw new Error(`a stack is already running here (process ${before.owner.pid}); stop it first`);
  }
  const children = before?.children ?? [];
  const left = children.filter(isRunning);
  await Promise.all(children.map((child) => stop(child, child.stopSignal, STOP_LIMIT_MS)));

  const owner = identify(process.pid);
  const record = (current: Owner['children']): void =>
    writeJson(path, { folder, boot, owner, children: current });
  record([]);
  return {
    lock: { record, release: () => rm(path, { force: true }) },
    stopped: left.map(({ name }) => name),
  };
};
