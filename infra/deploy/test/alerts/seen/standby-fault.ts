import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '@platform/local/postgres';
import postgres from 'postgres';
import { inherited } from '../../env.ts';
import { copyData, replicating, startReplica } from '../../standby.ts';
import type { Fault } from './faults.ts';
import { repeat } from './platform.ts';

/** What the exporter asks from version 0.12 on; that of Debian 12 is older. */
const query = `pg_replication_lag:
  query: "select extract(epoch from now() - pg_last_xact_replay_timestamp()) as seconds"
  metrics: [{ seconds: { usage: GAUGE, description: How far the replica is behind } }]
`;

export const standbyFault: Fault = {
  fault:
    'a standby, with an exporter beside it, replays nothing (`pg_wal_replay_pause`) while its primary is written to',
  clears: 'it replays again',
  alerts: ['ReplicationLags standby'],
  provoke: async ({ folder, monitoring, resources, standby }) => {
    const primary = await startPostgres({ durable: true, settings: replicating });
    resources.defer(primary.stop);
    const copy = join(folder, 'copy');
    await copyData(primary, copy);
    const replica = await startReplica(primary, copy);
    resources.defer(replica.stop);
    const [there, here] = [primary, replica].map(({ url }) => postgres(url, { max: 1, onnotice: () => {} }));
    if (there === undefined || here === undefined) throw new Error('no connections');
    resources.defer(() => there.end());
    resources.defer(() => here.end());
    await there`create table moments (at timestamptz)`;
    const write = repeat(() => there`insert into moments values (now())`, { pauseMs: 500 });
    resources.defer(async () => void (await write()));
    await writeFile(join(folder, 'queries.yaml'), query);
    const exporter = spawn(
      'prometheus-postgres-exporter',
      [
        '--disable-default-metrics',
        '--no-collector.bgwriter',
        '--no-collector.database',
        `--extend.query-path=${join(folder, 'queries.yaml')}`,
        `--web.listen-address=${standby}`,
        '--log.level=error',
      ],
      { env: { ...inherited, DATA_SOURCE_NAME: `${replica.url}?sslmode=disable` }, stdio: 'inherit' },
    );
    resources.defer(() => void exporter.kill());
    await monitoring.discover('standby', true);
    await here`select pg_wal_replay_pause()`;
    return () => here`select pg_wal_replay_resume()`;
  },
};
