import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { runProgram, UsageError } from '@platform/program';
import { services } from '@platform/service-list';
import { answersSql, unprivilegedAccount } from '../cluster.ts';
import { baseEnv, citusRoot, inheritedEnv } from '../env.ts';
import { killAllIn } from '../process.ts';
import { run, type Account } from '../spawn.ts';
import { temporaryFolder } from '../cleanup.ts';
import { freePort } from './free-ports.ts';
import { startServer, type Server } from './server.ts';

const BIN = '/usr/lib/postgresql/18/bin';

/** Not durable, and for many databases at a time: Citus runs a daemon for each database on each node. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_preload_libraries: 'citus',
  'citus.node_conninfo': 'sslmode=disable',
  'citus.enable_unsafe_triggers': 'on',
  'citus.enable_statistics_collection': 'off',
  // Citus moves schemas under load by logical replication.
  wal_level: 'logical',
  max_prepared_transactions: '500',
  max_connections: '500',
  max_worker_processes: '300',
  shared_buffers: '128MB',
  // The folder has no /dev/shm.
  dynamic_shared_memory_type: 'mmap',
  timezone: 'UTC',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  file_copy_method: 'clone',
};

/** Starts one node in the folder that infra/tools/rehearsal/base-images/citus.sh created. */
const startNode = async (root: string, { uid, gid }: Account): Promise<Server> => {
  const chrootCommand = (program: string): string[] => [`--userspec=${uid}:${gid}`, root, join(BIN, program)];
  const [folder, port] = await Promise.all([temporaryFolder({ uid, gid }, join(root, 'data')), freePort()]);
  const dataDir = join(folder.path, 'node');
  const path = dataDir.slice(root.length);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const args = ['--username=postgres', '--auth=trust', '--no-sync', ...locale];
  const initdb = await run('/usr/sbin/chroot', [...chrootCommand('initdb'), `--pgdata=${path}`, ...args]);
  if (initdb.code !== 0) throw new Error(`initdb failed:\n${initdb.output}`);
  const lines = Object.entries({ ...SETTINGS, port: String(port) }).map(
    ([name, value]) => `${name} = '${value}'`,
  );
  await writeFile(join(dataDir, 'postgresql.auto.conf'), `${lines.join('\n')}\n`);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return startServer({
    name: 'citus',
    url,
    command: {
      file: '/usr/sbin/chroot',
      args: [...chrootCommand('postgres'), '-D', path],
      cwd: '/',
      env: baseEnv(),
      stopSignal: 'SIGINT',
      logFile: join(folder.path, 'node.log'),
    },
    isReady: () => answersSql(url),
    cleanUp: async () => {
      await killAllIn(dataDir);
      await folder.remove();
    },
  });
};

/** Makes the first node the coordinator of the others. The test kit reads the nodes from its database `postgres`. */
const joinNodes = async (nodes: readonly Server[]): Promise<void> => {
  for (const [index, { url }] of nodes.entries()) {
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    await sql`create extension citus`;
    if (index === 0) await sql`select citus_set_coordinator_host('127.0.0.1')`;
    await sql.end();
  }
  const [coordinator, ...workers] = nodes;
  const sql = postgres(coordinator?.url ?? '', { max: 1, onnotice: () => {} });
  for (const { url } of workers) await sql`select citus_add_node('127.0.0.1', ${Number(new URL(url).port)})`;
  await sql.end();
};

const usage = `test:citus [--project NAME] [FILE …]: runs tests of the services (default: all) with a Citus cluster of a coordinator
and two workers instead of PostgreSQL. The schema of each service is on a worker.
CITUS_ROOT is the folder that infra/tools/rehearsal/base-images/citus.sh created. Needs root.`;

await runProgram(usage, async (args) => {
  const root = citusRoot();
  const account = await unprivilegedAccount();
  if (root === undefined || account === undefined)
    throw new UsageError('set CITUS_ROOT and run this command as root');
  const nodes: Server[] = [];
  try {
    for (const _ of ['coordinator', 'worker', 'worker']) nodes.push(await startNode(root, account));
    await joinNodes(nodes);
    const tests = args.length > 0 ? args : services.flatMap(({ name }) => ['--project', name]);
    const child = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), ...tests], {
      stdio: 'inherit',
      env: inheritedEnv({ TEST_POSTGRES_URL: nodes[0]?.url ?? '' }),
    });
    // Ignored here: Ctrl-C also reaches the tests, and this process must stop the servers afterwards.
    process.on('SIGINT', () => {});
    const [code] = (await once(child, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
});
