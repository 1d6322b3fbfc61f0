import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  answersSql,
  clusterCommand,
  clusterUrl,
  initialise,
  removeLeftovers,
  unprivilegedAccount,
  type Cluster,
} from '../cluster.ts';
import { freePort } from './free-ports.ts';
import { memoryFolder } from './memory-folder.ts';
import { postgresBinaries } from '../postgres-binaries.ts';
import { killAllIn } from '../process.ts';
import { startServer, type Server } from './server.ts';
import { temporaryFolder } from '../temporary-folder.ts';

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
