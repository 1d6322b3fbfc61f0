import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson, writeJson } from './files.ts';

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
