import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The fields of `.local/stack.json` that programs read. */
export interface LocalStack {
  gateway: string | null;
  services: Record<string, { url: string; databaseUrl: string }>;
  demo?: {
    adminToken: string;
    store: { id: string; webhookToken: string };
    wallet: { hmacSecret: string };
  };
}

/** Returns the platform that `start` runs in the current folder or a parent folder; undefined if none is running. */
export const localStack = (folder = process.cwd()): LocalStack | undefined => {
  const file = join(folder, '.local/stack.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as LocalStack;
  return folder === dirname(folder) ? undefined : localStack(dirname(folder));
};
