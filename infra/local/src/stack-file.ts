import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeJson } from './files.ts';

/** A running stack as .local/stack.json describes it. What is left out or somebody else's has null. */
export interface Stack {
  gateway: string | null;
  services: Record<string, { url: string; pid: number | null; databaseUrl: string }>;
  postgres: { url: string; pid: number | null; dataDir: string | null };
  redis: { url: string; pid: number | null } | null;
  nginx: { pid: number | null } | null;
  demo: Record<string, unknown>;
}

const fileIn = (folder: string): string => join(folder, 'stack.json');

/** It holds passwords and tokens: only its owner may read it. */
export const writeStack = (folder: string, stack: Stack): Promise<void> => writeJson(fileIn(folder), stack);
export const removeStack = (folder: string): Promise<void> => rm(fileIn(folder), { force: true });
