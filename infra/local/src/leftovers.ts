import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson, writeJson } from './files.ts';
import { identify, isRunning, stop } from './process-table.ts';
import type { Watched } from './watch.ts';

/** Who runs in a local folder: the `start` that holds it, and its programs. */
interface Record {
  /** A copied folder is not the one whose processes these are. */
  folder: string;
  owner: { pid: number; startedAt: string };
  children: (Watched & { name: string })[];
}

const STOP_LIMIT_MS = 10_000;
const fileIn = (folder: string): string => join(folder, 'processes.json');

/** Keeps the list of our programs on disk, for the case that we are killed and cannot stop them. */
export interface Claim {
  record: (children: Record['children']) => Promise<void>;
  release: () => Promise<void>;
}

/**
 * Takes a local folder for this process, after stopping what an earlier start left running in it.
 * @returns the claim and the names of the programs that were still running
 * @throws when another start is at work there
 */
export const claimFolder = async (folder: string): Promise<{ claim: Claim; stopped: string[] }> => {
  const path = fileIn(folder);
  const before = await readJson<Record>(path);
  const ours = before?.folder === folder ? before : undefined;
  if (ours && ours.owner.pid !== process.pid && isRunning(ours.owner)) {
    throw new Error(`a stack is already running here (process ${ours.owner.pid}); stop it first`);
  }
  const left = (ours?.children ?? []).filter(isRunning);
  await Promise.all((ours?.children ?? []).map((child) => stop(child, child.stopSignal, STOP_LIMIT_MS)));

  const owner = identify(process.pid);
  const record = (children: Record['children']): Promise<void> =>
    writeJson(path, { folder, owner, children });
  await record([]);
  return {
    claim: { record, release: () => rm(path, { force: true }) },
    stopped: left.map(({ name }) => name),
  };
};
