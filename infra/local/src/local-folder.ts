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
 * Reads JSON from a file; undefined if the file does not exist. The shape is not checked: only this package writes it.
 * @throws with the path if this user may not read the file or it is not JSON
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

/** Replaces a file atomically; only its owner can read it. It is synchronous, so no two writes overlap. */
export const writeJson = (path: string, content: unknown): void => {
  const temporaryPath = `${path}.${process.pid}`;
  writeFileSync(temporaryPath, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporaryPath, path);
};

/** The folder of a stack. */
export interface LocalFolder {
  path: string;
  /** Data of PostgreSQL and Redis. */
  data: string;
  keys: string;
  /** Returns the path of the log of a program. */
  logFile: (name: string) => string;
}

/**
 * Opens the folder and creates it and its subfolders if they are missing.
 * @throws with the path if this user may not write to the folder
 */
export const openLocalFolder = async (root: string): Promise<LocalFolder> => {
  await mkdir(root, { recursive: true })
    .then(() => access(root, constants.W_OK))
    .catch((cause: unknown) => {
      throw new Error(`${root} cannot be written by this user; change its owner or pass --local FOLDER`, {
        cause,
      });
    });
  const path = await realpath(root);
  const [keys, logs, data] = [join(path, 'keys'), join(path, 'logs'), join(path, 'data')];
  await mkdir(keys, { recursive: true, mode: 0o700 });
  // PostgreSQL and the workers of nginx (which reopen their logs after a rotation) may run as other users.
  for (const folder of [logs, data]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o711);
  }
  return { path, data, keys, logFile: (name) => join(logs, `${name}.log`) };
};

/** Content of .local/stack.json. Null: a program that is missing or that this stack does not run. */
export interface Stack {
  gateway: string | null;
  /** With `--instances 2`, the first process of each service. */
  services: Record<string, { url: string; pid: number | null; databaseUrl: string }>;
  /** Only with `--instances 2`: both processes of each service. */
  instances?: Record<string, { url: string; pid: number | null }[]>;
  postgres: { url: string; pid: number | null; dataDir: string | null };
  redis: { url: string; pid: number | null } | null;
  nginx: { pid: number | null } | null;
  demo: Record<string, unknown>;
}

const stackFile = (folder: string): string => join(folder, 'stack.json');

/** Writes stack.json. It contains passwords and tokens, so only its owner can read it. */
export const writeStack = (folder: string, stack: Stack): void => writeJson(stackFile(folder), stack);
/** Reads stack.json; undefined if no stack runs in the folder. */
export const readStack = (folder: string): Promise<Stack | undefined> => readJson<Stack>(stackFile(folder));
export const removeStack = (folder: string): Promise<void> => rm(stackFile(folder), { force: true });

/** Content of processes.json: the `start` process that uses a local folder, and its programs. */
interface ProcessRecord {
  /** In a copied folder this is the path of the original, to which the processes belong. */
  folder: string;
  /** Id of the system's boot: after a reboot the process ids belong to other processes. */
  boot: string;
  owner: ProcessId;
  children: (StoppableProcess & { name: string })[];
}

const STOP_LIMIT_MS = 10_000;

/** Lock of a local folder that only this process uses. */
export interface FolderLock {
  /** Stores the running programs, so that the next start can stop them if this one is killed. */
  record: (children: ProcessRecord['children']) => void;
  release: () => Promise<void>;
}

/**
 * Locks a local folder for this process. First stops programs that are still running because an earlier start was killed.
 * @returns the lock and the names of the stopped programs
 * @throws if another start uses the folder
 */
export const lockFolder = async (folder: string): Promise<{ lock: FolderLock; stopped: string[] }> => {
  const path = join(folder, 'processes.json');
  const storedRecord = await readJson<ProcessRecord>(path);
  const boot = bootId();
  const previous = storedRecord?.folder === folder && storedRecord.boot === boot ? storedRecord : undefined;
  if (previous && previous.owner.pid !== process.pid && isRunning(previous.owner)) {
    throw new Error(`a stack is already running here (process ${previous.owner.pid}); stop it first`);
  }
  const children = previous?.children ?? [];
  const stillRunning = children.filter(isRunning);
  await Promise.all(children.map((child) => stop(child, child.stopSignal, STOP_LIMIT_MS)));

  const owner = identify(process.pid);
  const record = (current: ProcessRecord['children']): void =>
    writeJson(path, { folder, boot, owner, children: current });
  record([]);
  return {
    lock: { record, release: () => rm(path, { force: true }) },
    stopped: stillRunning.map(({ name }) => name),
  };
};
