import { join } from 'node:path';
import type { Account } from './run.ts';
import { answers, clearRemains, clusterCommand, clusterUrl, initialise, type Cluster } from './cluster.ts';
import type { Crew } from './crew.ts';
import type { LocalFolder } from './local-folder.ts';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { postgresBinaries } from './postgres-binaries.ts';
import { redisAnswers, redisCommand, redisUrl } from './redis.ts';

/** Where the servers under the services put things, and as whom they run. */
export interface Site {
  crew: Crew;
  local: LocalFolder;
  account: Account | undefined;
}

const READY_MS = 60_000;

/** Starts the embedded PostgreSQL, its data kept, and waits until it answers. */
export const startEmbeddedPostgres = async (
  { crew, local, account }: Site,
  port: number,
  password: string,
): Promise<{ url: string; dataDir: string }> => {
  const cluster: Cluster = {
    bin: await postgresBinaries(account),
    dataDir: join(local.data, 'postgres'),
    port,
    password,
    account,
    logFile: await local.logFile('postgres'),
    durable: true,
  };
  await initialise(cluster);
  const url = clusterUrl(cluster);
  const supervised = crew.start('postgres', {
    name: 'postgres',
    command: clusterCommand(cluster),
    answers: () => answers(url),
    prepare: () => clearRemains(cluster),
    stopLimitMs: 15_000,
  });
  await supervised.ready(READY_MS);
  return { url, dataDir: cluster.dataDir };
};

/** Starts the Redis of the stack and waits until it answers. */
export const startLocalRedis = async (
  { crew, local, account }: Site,
  port: number,
  file: string,
  password: string,
): Promise<string> => {
  const dataDir = join(local.data, 'redis');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const configFile = join(dataDir, 'redis.conf');
  await rm(configFile, { force: true });
  await writeFile(configFile, `requirepass ${password}\n`, { mode: 0o600 });
  if (account) await Promise.all([dataDir, configFile].map((path) => chown(path, account.uid, account.gid)));
  const url = redisUrl(port, password);
  const supervised = crew.start('redis', {
    name: 'redis',
    command: redisCommand({
      file,
      port,
      dataDir,
      account,
      configFile,
      logFile: await local.logFile('redis'),
    }),
    answers: () => redisAnswers(url),
    stopLimitMs: 5_000,
  });
  await supervised.ready(READY_MS);
  return url;
};
