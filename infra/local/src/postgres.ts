import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { unprivilegedAccount } from './account.ts';
import { answers, clearRemains, clusterCommand, clusterUrl, initialise, type Cluster } from './cluster.ts';
import { freePort } from './ports.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { startServer, type Server } from './server.ts';
import { temporaryFolder } from './temporary.ts';

/** A running PostgreSQL; the url is that of its superuser. */
export interface PostgresServer extends Server {
  dataDir: string;
}

/**
 * Starts an own PostgreSQL 18 with empty data on a free port of 127.0.0.1, for as long as this process lives.
 * It trades durability against a power cut for speed; kill -9 of the server still loses nothing committed
 * unless `synchronous_commit` matters: pass `durable` for tests of that kind.
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
  const server = await startServer({
    url: clusterUrl(cluster),
    command: clusterCommand(cluster),
    answers,
    prepare: () => clearRemains(cluster),
    cleanUp: folder.remove,
  });
  return Object.assign(server, { dataDir: cluster.dataDir });
};
