import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inherited } from './env.ts';

/** The repository that contains these tests. */
export const root = join(import.meta.dirname, '../../../..');

/** Files in git, and new files that git does not ignore. */
const files = (): string[] => {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  // The checkout may belong to another user than the one that runs the tests.
  const listed = execFileSync('git', ['-c', 'safe.directory=*', ...options], {
    cwd: root,
    env: inherited,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
};

/** Copies the links that pnpm created in a package, without the hidden folders of tools. */
const copyModules = (folder: string, path: string): void => {
  const modules = join(root, path, 'node_modules');
  if (!existsSync(modules)) return;
  cpSync(modules, join(folder, path, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.startsWith(`${modules}/.`) || source.startsWith(`${modules}/.bin`),
  });
};

/** Copies the repository with its installed packages; the copy is removed on disposal. */
export const copyRepository = (): Disposable & { folder: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'new-service-'));
  const dispose = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const paths = files();
    for (const path of paths) cpSync(join(root, path), join(folder, path), { verbatimSymlinks: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const packages = paths.filter((path) =>
      /^(?:services|packages|infra(?:\/tools)?)\/[^/]+\/package\.json$/.test(path),
    );
    for (const path of packages) copyModules(folder, dirname(path));
  } catch (error) {
    dispose();
    throw error;
  }
  return { folder, [Symbol.dispose]: dispose };
};
