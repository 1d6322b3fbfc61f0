import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inherited } from './env.ts';
import { makeTestKeys, type TestKeys } from '@platform/auth/testing';
import { freePort } from '@platform/local/ports';
import { startPostgres, type PostgresServer } from '@platform/local/postgres';
import { startRedis } from '@platform/local/redis';
import postgres from 'postgres';

/** Starts a PostgreSQL with fsync and a Redis, for one topic. */
export const startBackingServices = async () => {
  const stack = new AsyncDisposableStack();
  const database = await startPostgres({ durable: true });
  stack.defer(() => database.stop());
  const redis = await startRedis();
  stack.defer(() => redis.stop());
  return { database, redis, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

type BackingServices = Awaited<ReturnType<typeof startBackingServices>>;

const createDatabase = async (server: PostgresServer, name: string): Promise<string> => {
  const sql = postgres(server.url, { max: 1, onnotice: () => undefined });
  await sql`drop database if exists ${sql(name)} with (force)`;
  await sql`create database ${sql(name)}`;
  await sql.end();
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
};

const run = async (folder: string, script: string, env: Record<string, string>): Promise<void> => {
  const child = spawn(process.execPath, [script], {
    cwd: folder,
    env: { ...inherited, ...env },
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`${folder}/${script} failed with exit code ${code}`);
};

const stopProcess = async (child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
};

/** Resident memory of a process, in MB. */
export const residentMemory = (pid: number): number => {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
};

export interface BenchService extends AsyncDisposable {
  url: string;
  databaseUrl: string;
  pid: number;
  keys: TestKeys;
  /** Stops the process and starts another with the same database. */
  restart: (extra?: Record<string, string>) => Promise<void>;
  /** Kills the process with SIGKILL and starts another; resolves when that one is ready. */
  kill9: () => Promise<void>;
}

/** The options of Node.js that the images set. */
const shippedOptions = (): string => {
  const dockerfile = readFileSync(new URL('../../../deploy/Dockerfile', import.meta.url), 'utf8');
  const options = /NODE_OPTIONS="([^"]+)"/.exec(dockerfile)?.[1];
  if (options === undefined) throw new Error('infra/deploy/Dockerfile sets no NODE_OPTIONS');
  return options;
};

/**
 * Starts a service as the image does (Node options, compile cache, log level, rate limits on), with a database of its
 * own. The rate limit is counted but never reached.
 */
export const startService = async (
  name: string,
  backing: BackingServices,
  extra: Record<string, string> = {},
): Promise<BenchService> => {
  const folder = new URL(`../../../../services/${name}`, import.meta.url).pathname;
  const databaseUrl = await createDatabase(backing.database, name.replaceAll('-', '_'));
  await run(folder, 'src/migrate.ts', { DATABASE_URL: databaseUrl });
  const keys = await makeTestKeys();
  const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
  writeFileSync(join(scratch, 'jwks.json'), JSON.stringify(keys.jwks));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...inherited,
    NODE_ENV: 'production',
    NODE_COMPILE_CACHE: join(scratch, 'compiled'),
    PORT: String(port),
    DRAIN_MS: '0',
    DATABASE_URL: databaseUrl,
    REDIS_URL: backing.redis.url,
    NODE_OPTIONS: shippedOptions(),
    RATE_LIMIT_PER_MINUTE: '1000000000',
    AUTH_JWKS: join(scratch, 'jwks.json'),
    AUTH_ISSUER: keys.issuer,
    AUTH_AUDIENCE: keys.audience,
    ...extra,
  };
  const launch = async (more: Record<string, string>): Promise<ChildProcess> => {
    const child = spawn(process.execPath, ['src/main.ts'], {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ready = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await ready())) {
      if (child.exitCode !== null) throw new Error(`${name} did not start`);
      await sleep(50);
    }
    return child;
  };
  let child = await launch({});
  return {
    url,
    databaseUrl,
    keys,
    get pid() {
      return child.pid ?? 0;
    },
    restart: async (more = {}) => {
      await stopProcess(child);
      child = await launch(more);
    },
    kill9: async () => {
      await stopProcess(child, 'SIGKILL');
      child = await launch({});
    },
    [Symbol.asyncDispose]: async () => {
      await stopProcess(child);
      rmSync(scratch, { recursive: true });
    },
  };
};
