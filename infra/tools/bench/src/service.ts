import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeTestKeys, type TestKeys } from '@platform/auth/testing';
import { freePort } from '@platform/local/ports';
import { startPostgres } from '@platform/local/postgres';
import { startRedis } from '@platform/local/redis';
import postgres, { type Sql } from 'postgres';
import { inherited } from './env.ts';

/** Database schema of a service's tables. */
const schema = 'measured';

/** Starts an empty PostgreSQL with fsync. Services and the plain service have one each, with the same settings. */
export const startDatabase = async () => {
  const { url, stop } = await startPostgres({
    durable: true,
    settings: {
      // The benchmarks' own statements omit the schema.
      search_path: `${schema},extensions,public`,
      // The benchmarks of the change feed measure delays from the commit.
      track_commit_timestamp: 'on',
    },
  });
  const sql = postgres(url, { max: 2, onnotice: () => undefined });
  return {
    url,
    sql,
    [Symbol.asyncDispose]: async () => {
      await sql.end();
      await stop();
    },
  };
};

const runScript = async (folder: string, script: string, env: Record<string, string>): Promise<void> => {
  const child = spawn(process.execPath, [script], {
    cwd: folder,
    env: { ...inherited, ...env },
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`${folder}/${script} failed with exit code ${code}`);
};

export interface BenchService extends AsyncDisposable {
  url: string;
  sql: Sql;
  keys: TestKeys;
}

/** All started services; main.ts stops them even when a part fails. */
export const startedServices = new AsyncDisposableStack();

/** The Node.js options that the images set. */
export const imageNodeOptions = (): string => {
  const dockerfile = readFileSync(new URL('../../../deploy/Dockerfile', import.meta.url), 'utf8');
  const options = /NODE_OPTIONS="([^"]+)"/.exec(dockerfile)?.[1];
  if (options === undefined) throw new Error('infra/deploy/Dockerfile sets no NODE_OPTIONS');
  return options;
};

/** Starts the process of a service and waits until it is ready; disposal stops it. */
const startProcess = async (
  folder: string,
  url: string,
  env: Record<string, string>,
): Promise<AsyncDisposable> => {
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true;
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${folder} did not start`);
    await sleep(50);
  }
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await exited;
    },
  };
};

/**
 * Starts a service as the image does (Node options, compile cache, log level), with a PostgreSQL and a Redis of its own.
 * Its rate limits are on but never reached.
 */
export const startService = async (
  name: string,
  settings: Record<string, string> = {},
): Promise<BenchService> => {
  await using stack = new AsyncDisposableStack();
  const { url: databaseUrl, sql } = stack.use(await startDatabase());
  const redis = await startRedis();
  stack.defer(() => redis.stop());
  const folder = new URL(`../../../../services/${name}`, import.meta.url).pathname;
  await runScript(folder, 'src/migrate.ts', { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: schema });
  const keys = await makeTestKeys();
  const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
  stack.defer(() => rmSync(scratch, { recursive: true }));
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
    DATABASE_SCHEMA: schema,
    REDIS_URL: redis.url,
    NODE_OPTIONS: imageNodeOptions(),
    RATE_LIMIT_PER_MINUTE: '1000000000',
    WRITTEN_MB_PER_NETWORK: '1000000',
    AUTH_JWKS: join(scratch, 'jwks.json'),
    AUTH_ISSUER: keys.issuer,
    SUBSCRIPTIONS_KEY: 'ab'.repeat(32),
    AUTH_AUDIENCE: keys.audience,
    SPOOL_DIR: join(scratch, 'spool'),
    ...settings,
  };
  stack.use(await startProcess(folder, url, env));
  // The caller and main.ts both dispose this stack; the second disposal does nothing.
  return Object.assign(startedServices.use(stack.move()), { url, sql, keys });
};
