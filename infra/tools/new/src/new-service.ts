import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readServices } from '@platform/service-list/read';
import { camelOf, pascalOf, snakeOf, titleOf, wordsOf, checkName, type NewService } from './name.ts';

const template = join(import.meta.dirname, '../template');

/** Functions that spell a resource as in paths, SQL, code and text. */
const spellings = [(name: string) => name, snakeOf, camelOf, pascalOf, wordsOf, titleOf];

const replaceResource = (text: string, placeholder: string, resource: string): string =>
  spellings.reduce((result, spell) => result.replaceAll(spell(placeholder), spell(resource)), text);

/** Higher ports belong to probes, PostgreSQL and Redis. */
const highestPort = 10;

/** Returns the lowest port that no service in the list uses. @throws when all are in use */
const freePort = (list: string): number => {
  const taken = new Set(readServices(list).map(({ port }) => port));
  for (let port = 1; port <= highestPort; port += 1) if (!taken.has(port)) return port;
  throw new Error(`All ports from 1 to ${highestPort} are in use.`);
};

/**
 * Copies the template, which has the layout of the repository, to `root`, and replaces the placeholders by the names and a
 * free port. Its services.yaml is appended to the list. @throws when any other file exists already
 */
const copyTemplate = (root: string, { name, plural, singular }: NewService): void => {
  const list = join(root, 'services.yaml');
  const port = freePort(list);
  const replaceNames = (text: string): string =>
    replaceResource(replaceResource(text, 'spare-parts', plural), 'spare-part', singular)
      .replaceAll('placeholder-service', name)
      .replaceAll('Placeholder service', titleOf(name))
      .replaceAll('port: 0', `port: ${port}`);
  for (const entry of readdirSync(template, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const source = join(entry.parentPath, entry.name);
    const target = join(root, replaceNames(source.slice(template.length)));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, replaceNames(readFileSync(source, 'utf8')), { flag: target === list ? 'a' : 'wx' });
  }
};

const run = (folder: string, file: string, ...args: string[]): void => {
  const { status, error } = spawnSync(file, args, { cwd: folder, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${[file, ...args].join(' ')} failed in ${folder}.`);
};

/**
 * Creates services/NAME and docs/NAME.md in the repository at `root` from the template, adds the service to services.yaml,
 * installs dependencies with `pnpm` (the path of its script), and generates the first migration, the OpenAPI document, the
 * client and the service's part of the deployment. Check the resource before (`checkResource`).
 * @throws when the name is not available or a step fails; then it removes all files of the service
 */
export const newService = (root: string, service: NewService, pnpm: string): void => {
  const { name, plural } = service;
  checkName(root, name);
  const list = join(root, 'services.yaml');
  const listBefore = readFileSync(list, 'utf8');
  const folder = join(root, 'services', name);
  const page = join(root, 'docs', `${name}.md`);
  const runScript = (packageFolder: string, ...args: string[]): void =>
    run(join(root, packageFolder), process.execPath, '--run', ...args);
  const generateFromList = (): void => {
    runScript('packages/client', 'generate');
    runScript('infra/deploy', 'generate');
  };
  try {
    copyTemplate(root, service);
    // Without this flag pnpm refuses to add the package to the lock file in CI.
    run(root, process.execPath, pnpm, 'install', '--no-frozen-lockfile');
    runScript(`services/${name}`, 'migrations:generate', '--', '--name', snakeOf(plural));
    runScript(`services/${name}`, 'openapi');
    generateFromList();
    // The length of the name changes where lines break.
    run(root, join(root, 'node_modules/.bin/oxfmt'), folder, page, list);
  } catch (error) {
    writeFileSync(list, listBefore);
    const types = join(root, `packages/client/src/generated/${name}.ts`);
    for (const path of [folder, page, types]) rmSync(path, { recursive: true, force: true });
    try {
      generateFromList();
    } catch {
      // Report the step that failed first.
    }
    throw error;
  }
};
