import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { inherited } from './env.ts';
import { root } from './service.ts';

/** Runs prepare-compose with an empty folder, under a umask that hides files from other users, and returns the folder. */
export const prepare = (
  folder: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): string => {
  const script = join(root, 'infra/deploy/src/prepare.ts');
  const command = 'umask 077; exec "$0" "$@"';
  execFileSync('sh', ['-c', command, process.execPath, script, '--out', folder, ...args], {
    env: { ...inherited, ...env },
  });
  return folder;
};
