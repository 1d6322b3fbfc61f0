import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkName, snakeOf, type NewService } from './name.ts';
import { freePort } from './port.ts';
import { registerService } from './register.ts';
import { copyTemplate } from './template.ts';

const run = (folder: string, file: string, ...args: string[]): void => {
  const { status, error } = spawnSync(file, args, { cwd: folder, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${[file, ...args].join(' ')} failed in ${folder}.`);
};

/**
 * Creates services/NAME and docs/NAME.md in the repository at `root`: copies the template, registers the service in the
 * gateway, the deployment and the client, installs dependencies with `pnpm` (the path of its script), and generates the first
 * migration, the OpenAPI document and the types of the client.
 * The resource must have been checked (`checkResource`).
 * @throws when the name is not available or a step fails; everything is as before then
 */
export const newService = (root: string, service: NewService, pnpm: string): void => {
  const { name, plural } = service;
  checkName(root, name);
  const folder = join(root, 'services', name);
  const page = join(root, 'docs', `${name}.md`);
  const client = join(root, 'packages/client');
  const created = [folder, page, join(client, `src/generated/${name}.ts`)];
  const script = (...args: string[]): void => run(folder, process.execPath, '--run', ...args);
  const { changed, undo } = registerService(root, service);
  try {
    copyTemplate(root, service, freePort(join(root, 'services')));
    // Without this flag pnpm refuses to add the package to the lock file in CI.
    run(root, process.execPath, pnpm, 'install', '--no-frozen-lockfile');
    script('migrations:generate', '--', '--name', snakeOf(plural));
    script('openapi');
    run(client, process.execPath, 'scripts/generate.ts');
    // The length of the name changes where lines break.
    run(root, join(root, 'node_modules/.bin/oxfmt'), folder, page, ...changed);
  } catch (error) {
    undo();
    for (const path of created) rmSync(path, { recursive: true, force: true });
    throw error;
  }
};
