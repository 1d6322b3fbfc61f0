import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkName } from './name.ts';
import { freePort } from './port.ts';
import { copyTemplate } from './template.ts';

const run = (folder: string, file: string, ...args: string[]): void => {
  // What they print goes to the terminal as it comes.
  const { status, error } = spawnSync(file, args, { cwd: folder, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${[file, ...args].join(' ')} failed in ${folder}.`);
};

/**
 * Makes services/NAME and docs/NAME.md in the repository at `root`, whole: from the template, then its dependencies
 * with `pnpm` (a script for Node), its first migration and its OpenAPI document by its own scripts.
 * @throws when the name can't be had, or a step fails; what was made is gone then
 */
export const newService = (root: string, name: string, pnpm: string): void => {
  checkName(root, name);
  const folder = join(root, 'services', name);
  const page = join(root, 'docs', `${name}.md`);
  const script = (...args: string[]): void => run(folder, process.execPath, '--run', ...args);
  try {
    copyTemplate(root, name, freePort(join(root, 'services')));
    // In CI pnpm would refuse to add the new package to the lock file.
    run(root, process.execPath, pnpm, 'install', '--no-frozen-lockfile');
    script('migrations:generate', '--', '--name', 'items');
    script('openapi');
    // A longer or shorter name breaks lines elsewhere.
    run(root, join(root, 'node_modules/.bin/oxfmt'), folder, page);
  } catch (error) {
    for (const path of [folder, page]) rmSync(path, { recursive: true, force: true });
    throw error;
  }
};
