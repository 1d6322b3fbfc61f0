/**
 * Replaces pnpm in the tests, without a registry: `node linking-pnpm.ts install`, at the root of a copy of the repository,
 * links the dependencies of a new service from the other services. Fails for a dependency that no other service has.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const services = join(process.cwd(), 'services');
const modules = readdirSync(services).map((name) => join(services, name, 'node_modules'));
const installed = modules.filter(existsSync);

const link = (name: string, target: string): void => {
  const source = installed.map((folder) => join(folder, name)).find(existsSync);
  if (source === undefined) throw new Error(`no service has ${name} installed`);
  mkdirSync(dirname(join(target, name)), { recursive: true });
  cpSync(source, join(target, name), { recursive: true, verbatimSymlinks: true });
};

for (const folder of modules.filter((path) => !existsSync(path))) {
  const manifest = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  for (const name of names) link(name, folder);
  for (const tool of ['drizzle-kit', 'vitest']) link(`.bin/${tool}`, folder);
}
