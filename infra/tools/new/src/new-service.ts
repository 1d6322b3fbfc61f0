import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkName, snakeOf, type NewService } from './name.ts';
import { copyTemplate } from './template.ts';

const run = (folder: string, file: string, ...args: string[]): void => {
  const { status, error } = spawnSync(file, args, { cwd: folder, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${[file, ...args].join(' ')} failed in ${folder}.`);
};

/**
 * Creates services/NAME and docs/NAME.md in the repository at `root` from the template, adds the service to services.yaml,
 * installs dependencies with `pnpm` (the path of its script), and generates the first migration, the OpenAPI document, the
 * client and what the deployment has of the list.
 * The resource must have been checked (`checkResource`).
 * @throws when the name is not available or a step fails; no file of the service is left then
 */
export const newService = (root: string, service: NewService, pnpm: string): void => {
  const { name, plural } = service;
  checkName(root, name);
  const list = join(root, 'services.yaml');
  const listBefore = readFileSync(list, 'utf8');
  const folder = join(root, 'services', name);
  const page = join(root, 'docs', `${name}.md`);
  const script = (inFolder: string, ...args: string[]): void =>
    run(join(root, inFolder), process.execPath, '--run', ...args);
  const generate = (): void => {
    script('packages/client', 'generate');
    script('infra/deploy', 'generate');
  };
  try {
    copyTemplate(root, service);
    // Without this flag pnpm refuses to add the package to the lock file in CI.
    run(root, process.execPath, pnpm, 'install', '--no-frozen-lockfile');
    script(`services/${name}`, 'migrations:generate', '--', '--name', snakeOf(plural));
    script(`services/${name}`, 'openapi');
    generate();
    // The length of the name changes where lines break.
    run(root, join(root, 'node_modules/.bin/oxfmt'), folder, page, list);
  } catch (error) {
    writeFileSync(list, listBefore);
    const types = join(root, `packages/client/src/generated/${name}.ts`);
    for (const path of [folder, page, types]) rmSync(path, { recursive: true, force: true });
    try {
      generate();
    } catch {
      // The step that failed is the one to report.
    }
    throw error;
  }
};
