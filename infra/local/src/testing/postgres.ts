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

/** A RAM disk on Linux: cloning a database needs a tenth of the processor time, and nothing waits for a disk. */
const IN_MEMORY = '/dev/shm';
/** Minimum of free memory. The databases of all test files together need less than a quarter of it. */
const MIN_FREE_BYTES = 4 * 2 ** 30;

/** Returns a folder in memory for test data; undefined (use the folder of temporary files) if there is too little memory. */
export const memoryFolder = async (): Promise<string | undefined> => {
  const freeBytes = await statfs(IN_MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return Math.min(freeBytes, process.availableMemory()) < MIN_FREE_BYTES ? undefined : IN_MEMORY;
};

/** A running PostgreSQL. `url` connects as its superuser. */
export interface PostgresServer extends Server {
  dataDir: string;
  logFile: string;
}

interface PostgresOptions {
  /** True: committed data survive a crash. False: the server is faster. */
  durable?: boolean;
  settings?: Record<string, string>;
  /** Creates the data folder, for example as a copy of another one. Its owner becomes the user that runs PostgreSQL. */
  createData?: (dataDir: string) => Promise<void>;
  /** Password of the superuser in that data folder. */
  password?: string;
}

/** Starts PostgreSQL 18 on a free port of 127.0.0.1, without data unless `createData` is set. It ends with this process. */
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
    isReady: () => answersSql(url),
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
      // A busy child process would notice the death of its parent only later, and could still commit a statement.
      await killAllIn(cluster.dataDir);
    },
  });
};
