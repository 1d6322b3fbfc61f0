import { renameSync, writeFileSync } from 'node:fs';
import { access, readFile, chmod, constants, mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoppableProcess } from './cleanup.ts';
import { bootId, identify, isRunning, stop, type ProcessId } from './process.ts';

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/**
 * The JSON in a file, or undefined when the file does not exist. Its shape is not checked: only this package writes it.
 * @throws naming the file when this user may not read it or it is not JSON
 */
export const readJson = async <T>(path: string): Promise<T | undefined> => {
  if (!(await exists(path))) return undefined;
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (cause) {
    const belongsToOther = (cause as NodeJS.ErrnoException).code === 'EACCES';
    const reason = belongsToOther
      ? 'it belongs to another user; change the owner of the folder, or pass --local FOLDER'
      : (cause as Error).message;
    throw new Error(`${path} cannot be read: ${reason}`, { cause });
  }
};

/** Replaces a file atomically; only its owner can read it. It returns when that is done, so no two writes overlap. */
export const writeJson = (path: string, content: unknown): void => {
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(partial, path);
};

/** The folder of a stack. */
export interface LocalFolder {
  path: string;
  /** Data of PostgreSQL and Redis. */
  data: string;
  keys: string;
  /** Path of the log of a program. */
  logFile: (name: string) => string;
}

/**
 * Opens the folder and creates what is missing in it.
 * @throws naming the folder when this user may not write to it
 */
export const openLocalFolder = async (where: string): Promise<LocalFolder> => {
  await mkdir(where, { recursive: true })
    .then(() => access(where, constants.W_OK))
    .catch((cause: unknown) => {
      throw new Error(`${where} cannot be written by this user; change its owner or pass --local FOLDER`, {
        cause,
      });
    });
  const path = await realpath(where);
  const [keys, logs, data] = [join(path, 'keys'), join(path, 'logs'), join(path, 'data')];
  await mkdir(keys, { recursive: true, mode: 0o700 });
  // PostgreSQL and the workers of nginx, who open their logs again after a rotation, may be other users.
  for (const folder of [logs, data]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o711);
  }
  return { path, data, keys, logFile: (name) => join(logs, `${name}.log`) };
};

/** Content of .local/stack.json. What is missing, or not run by this stack, is null. */
export interface Stack {
  gateway: string | null;
  /** With `--instances 2`, the first process of each. */
  services: Record<string, { url: string; pid: number | null; databaseUrl: string }>;
  /** Only with `--instances 2`: both processes of each service. */
  instances?: Record<string, { url: string; pid: number | null }[]>;
  postgres: { url: string; pid: number | null; dataDir: string | null };
  redis: { url: string; pid: number | null } | null;
  nginx: { pid: number | null } | null;
  demo: Record<string, unknown>;
}

const fileIn = (folder: string): string => join(folder, 'stack.json');

/** It contains passwords and tokens, so only its owner can read it. */
export const writeStack = (folder: string, stack: Stack): void => writeJson(fileIn(folder), stack);
/** Undefined when no stack runs in the folder. */
export const readStack = (folder: string): Promise<Stack | undefined> => readJson<Stack>(fileIn(folder));
export const removeStack = (folder: string): Promise<void> => rm(fileIn(folder), { force: true });

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
