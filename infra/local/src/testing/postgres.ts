import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../cleanup.ts';
import {
  answersSql,
  clusterCommand,
  clusterUrl,
  initialise,
  removeLeftovers,
  unprivilegedAccount,
  type Cluster,
  postgresBinaries,
} from '../cluster.ts';
import { killAllIn } from '../process.ts';
import { freePort } from './free-ports.ts';
import { startServer, type Server } from './server.ts';

/** Files there are in memory on Linux: a database is cloned in a tenth of the processor time, and nothing waits for a disk. */
const IN_MEMORY = '/dev/shm';
/** All databases that test files have at a time need less than a quarter of it. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/** The folder for data that end with a test: in memory where there is plenty, else undefined, that of temporary files. */
export const memoryFolder = async (): Promise<string | undefined> => {
  const room = await statfs(IN_MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return Math.min(room, process.availableMemory()) < ENOUGH_BYTES ? undefined : IN_MEMORY;
};

/** A running PostgreSQL; `url` is that of its superuser. */
export interface PostgresServer extends Server {
  dataDir: string;
  logFile: string;
}

interface PostgresOptions {
  /** For a test in which committed data must survive a crash; otherwise the server is fast. */
  durable?: boolean;
  settings?: Record<string, string>;
  /** Creates the data folder, for example as a copy of another server's. It belongs to the user that runs PostgreSQL afterwards. */
  createData?: (dataDir: string) => Promise<void>;
  /** Password of the superuser in that data folder. */
  password?: string;
}

/** Starts PostgreSQL 18 on a free port of 127.0.0.1, empty unless data are given. It ends with this process. */
export const startPostgres = async (options: PostgresOptions = {}): Promise<PostgresServer> => {
  const { durable = false, settings = {}, createData, password = randomBytes(16).toString('hex') } = options;
  const account = await unprivilegedAccount();
  const [bin, folder, port] = await Promise.all([
    postgresBinaries(account),
    temporaryFolder(account, durable ? undefined : await memoryFolder()),
    freePort(),
  ]);
  const cluster: Cluster = {
    bin,
    dataDir: join(folder.path, 'data'),
    port,
    password,
    account,
    logFile: join(folder.path, 'postgres.log'),
    durable,
    settings,
  };
  await createData?.(cluster.dataDir);
  await initialise(cluster);
  const url = clusterUrl(cluster);
  const server = await startServer({
    name: 'postgres',
    url,
    command: clusterCommand(cluster),
    answers: () => answersSql(url),
    prepare: () => removeLeftovers(cluster),
    cleanUp: async () => {
      await killAllIn(cluster.dataDir);
      await folder.remove();
    },
  });
  const killParent = server.kill9;
  return Object.assign(server, {
    dataDir: cluster.dataDir,
    logFile: cluster.logFile,
    kill9: async () => {
      await killParent();
      // A child that is busy would notice only later that its parent is gone, and might still commit a statement.
      await killAllIn(cluster.dataDir);
    },
  });
};
