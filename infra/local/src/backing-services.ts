import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answersSql,
  clusterCommand,
  clusterUrl,
  initialise,
  removeLeftovers,
  unprivilegedAccount,
  type Cluster,
  postgresBinaries,
} from './cluster.ts';
import { ensureDatabases, restrictDefaultDatabases, type DatabaseUrls } from './databases.ts';
import type { ProgramPaths } from './install.ts';
import type { LocalFolder } from './local-folder.ts';
import type { StartOptions } from './options.ts';
import { redisAnswers, redisCommand, redisUrl } from './redis.ts';
import { printStep } from './print.ts';
import type { Secrets } from './service-settings.ts';
import { isSetFor } from './service-process.ts';
import type { Service } from './services.ts';
import type { Supervisor } from './supervisor.ts';

/** The supervisor and the folder that every program of a stack uses. */
export interface ProgramHost {
  supervisor: Supervisor;
  local: LocalFolder;
}

const POSTGRES_OFFSET = 32;
const REDIS_OFFSET = 79;
const READY_MS = 60_000;

/** Decides which servers this stack runs itself, and on which ports. */
export const planBackingServices = (
  options: StartOptions,
  services: readonly Service[],
  programPaths: ProgramPaths,
) => ({
  postgresPort: options.databaseUrl ? undefined : options.portBase + POSTGRES_OFFSET,
  redisPort: options.redisUrl || !programPaths['redis-server'] ? undefined : options.portBase + REDIS_OFFSET,
  /** The services whose databases this stack creates. */
  databasesFor: services.filter((service) => !isSetFor(service, 'DATABASE_URL')),
});
export type Plan = ReturnType<typeof planBackingServices>;

/** PostgreSQL and Redis after their start. */
export interface BackingServices {
  postgres: { url: string; dataDir: string | null };
  redisUrl: string | undefined;
  databases: Map<string, DatabaseUrls>;
}

const startEmbeddedPostgres = async ({ supervisor, local }: ProgramHost, port: number, password: string) => {
  const account = await unprivilegedAccount();
  const cluster: Cluster = {
    bin: await postgresBinaries(account),
    dataDir: join(local.data, 'postgres'),
    port,
    password,
    account,
    logFile: local.logFile('postgres'),
    durable: true,
  };
  await initialise(cluster);
  const url = clusterUrl(cluster);
  const program = supervisor.start('postgres', {
    name: 'postgres',
    command: clusterCommand(cluster),
    isReady: () => answersSql(url),
    prepare: () => removeLeftovers(cluster),
    stopLimitMs: 15_000,
  });
  await program.ready(READY_MS);
  return { url, dataDir: cluster.dataDir };
};

const startLocalRedis = async (
  { supervisor, local }: ProgramHost,
  port: number,
  file: string,
  password: string,
): Promise<string> => {
  const dataDir = join(local.data, 'redis');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const configFile = join(dataDir, 'redis.conf');
  await rm(configFile, { force: true });
  await writeFile(configFile, `requirepass ${password}\n`, { mode: 0o600 });
  const url = redisUrl(port, password);
  const logFile = local.logFile('redis');
  const program = supervisor.start('redis', {
    name: 'redis',
    command: redisCommand({ file, port, dataDir, logFile, configFile }),
    isReady: () => redisAnswers(url),
    stopLimitMs: 5_000,
  });
  await program.ready(READY_MS);
  return url;
};

/** Starts PostgreSQL and Redis, or uses the servers of the options, and creates the databases and roles. */
export const openBackingServices = async (
  host: ProgramHost,
  options: StartOptions,
  { postgresPort, redisPort, databasesFor }: Plan,
  programPaths: ProgramPaths,
  secrets: Secrets,
): Promise<BackingServices> => {
  const openDatabases = async () => {
    const postgres = postgresPort
      ? await startEmbeddedPostgres(host, postgresPort, secrets('postgres'))
      : { url: options.databaseUrl ?? '', dataDir: null };
    if (postgresPort) await restrictDefaultDatabases(postgres.url);
    const databases = await ensureDatabases(postgres.url, databasesFor, ({ name }) => ({
      runtime: secrets(`${name}/database run`),
      owner: secrets(`${name}/database own`),
    }));
    printStep(postgresPort ? 'PostgreSQL is ready' : 'the databases are on the PostgreSQL of DATABASE_URL');
    return { postgres, databases };
  };
  const openRedis = async () => {
    if (!redisPort) return options.redisUrl;
    const url = await startLocalRedis(host, redisPort, programPaths['redis-server'] ?? '', secrets('redis'));
    printStep('Redis is ready');
    return url;
  };
  const [{ postgres, databases }, redisUrl] = await Promise.all([openDatabases(), openRedis()]);
  return { postgres, databases, redisUrl };
};
