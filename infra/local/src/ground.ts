import { closeServer, ensureDatabases, type DatabaseUrls } from './databases.ts';
import { startEmbeddedPostgres, startLocalRedis, type Site } from './foundation.ts';
import type { Found } from './install.ts';
import type { StartOptions } from './options.ts';
import { step } from './say.ts';
import type { Secrets } from './secrets.ts';
import { brings } from './service-programs.ts';
import type { Service } from './services.ts';

const POSTGRES_OFFSET = 32;
const REDIS_OFFSET = 79;

/** Which of the servers this stack runs itself, and on which ports. */
export const plan = (options: StartOptions, services: readonly Service[], found: Found) => ({
  postgresPort: options.databaseUrl ? undefined : options.portBase + POSTGRES_OFFSET,
  redisPort: options.redisUrl || !found['redis-server'] ? undefined : options.portBase + REDIS_OFFSET,
  /** Those whose database is ours to make. */
  databasesFor: services.filter((service) => !brings(service, 'DATABASE_URL')),
});
export type Plan = ReturnType<typeof plan>;

/** Names of the secrets that `layGround` asks for. */
export const SUPERUSER = 'postgres';
export const REDIS = 'redis';
export const roleSecret = ({ name }: Service, role: 'run' | 'own'): string => `${name}/database ${role}`;

/** PostgreSQL and Redis, ready for the services. */
export interface Ground {
  postgres: { url: string; dataDir: string | null };
  redisUrl: string | undefined;
  databases: Map<string, DatabaseUrls>;
}

/** Starts PostgreSQL and Redis, or takes those that were given, and makes the databases and roles. */
export const layGround = async (
  site: Site,
  options: StartOptions,
  { postgresPort, redisPort, databasesFor }: Plan,
  found: Found,
  secrets: Secrets,
): Promise<Ground> => {
  const database = async () => {
    const postgres = postgresPort
      ? await startEmbeddedPostgres(site, postgresPort, secrets(SUPERUSER))
      : { url: options.databaseUrl ?? '', dataDir: null };
    if (postgresPort) await closeServer(postgres.url);
    const databases = await ensureDatabases(postgres.url, databasesFor, (service) => ({
      run: secrets(roleSecret(service, 'run')),
      own: secrets(roleSecret(service, 'own')),
    }));
    step(postgresPort ? 'PostgreSQL is ready' : 'the databases are on the PostgreSQL of DATABASE_URL');
    return { postgres, databases };
  };
  const cache = async () => {
    if (!redisPort) return options.redisUrl;
    const url = await startLocalRedis(site, redisPort, found['redis-server'] ?? '', secrets(REDIS));
    step('Redis is ready');
    return url;
  };
  const [{ postgres, databases }, redisUrl] = await Promise.all([database(), cache()]);
  return { postgres, databases, redisUrl };
};
