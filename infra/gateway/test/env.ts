import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** The environment, read in this file only. */
const folders = [
  ...(process.env['PATH'] ?? '').split(':').filter(Boolean),
  '/usr/local/sbin',
  '/usr/sbin',
  '/opt/homebrew/bin',
];

const canRun = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The nginx of this machine, undefined when it has none. */
export const nginxPath: string | undefined = folders.map((folder) => join(folder, 'nginx')).find(canRun);

/** Nothing may be left out. */
export const ci: boolean = process.env['CI'] === 'true';
