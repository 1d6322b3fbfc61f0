import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { unprivilegedAccount } from './account.ts';
import { answers, clearRemains, clusterCommand, clusterUrl, initialise, type Cluster } from './cluster.ts';
import { freePort } from './ports.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { startServer, type Server } from './server.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A running PostgreSQL; `url` is that of its superuser. */
export interface PostgresServer extends Server {
  dataDir: string;
}

/**
 * Starts an empty PostgreSQL 18 on a free port of 127.0.0.1. It ends with this process.
 * It is fast rather than durable: pass `durable` for a test in which committed data must survive a crash.
 */
export const startPostgres = async ({ durable = false } = {}): Promise<PostgresServer> => {
  const account = await unprivilegedAccount();
  const [bin, folder, port] = await Promise.all([
    postgresBinaries(account),
    temporaryFolder(account),
    freePort(),
  ]);
  const cluster: Cluster = {
    bin,
    dataDir: join(folder.path, 'data'),
    port,
    password: randomBytes(16).toString('hex'),
    account,
    logFile: join(folder.path, 'postgres.log'),
    durable,
  };
  await initialise(cluster);
  const url = clusterUrl(cluster);
  const server = await startServer({
    name: 'postgres',
    url,
    command: clusterCommand(cluster),
    answers: () => answers(url),
    prepare: () => clearRemains(cluster),
    cleanUp: folder.remove,
  });
  return Object.assign(server, { dataDir: cluster.dataDir });
};
