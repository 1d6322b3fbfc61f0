import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '@platform/program';
import { answersSql, unprivilegedAccount } from '../cluster.ts';
import { baseEnv, inheritedEnv, searchPath } from '../env.ts';
import { freePort } from './free-ports.ts';
import { startPostgres } from './postgres.ts';
import { startServer, type Server } from './server.ts';
import { temporaryFolder } from '../cleanup.ts';

/** Startup parameters of every service that PgBouncer must ignore; it rejects unknown ones. */
const IGNORED_PARAMETERS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

/** `postgres` needs session mode: tests create other databases through it under a session lock. It also has the passwords of the roles. */
const configuration = (server: URL, port: number, users: string): string => `[databases]
postgres = host=${server.hostname} port=${server.port} pool_mode=session
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
auth_user = postgres
auth_dbname = postgres
pool_mode = transaction
max_prepared_statements = 200
max_client_conn = 2000
default_pool_size = 20
ignore_startup_parameters = ${IGNORED_PARAMETERS.join()}
track_extra_parameters = IntervalStyle,search_path
`;

const startPgbouncer = async (postgresUrl: string): Promise<Server> => {
  const account = await unprivilegedAccount();
  const [folder, port] = await Promise.all([temporaryFolder(account), freePort()]);
  const server = new URL(postgresUrl);
  const [settings, users] = [join(folder.path, 'pgbouncer.ini'), join(folder.path, 'users')];
  const write = async (path: string, text: string): Promise<void> => {
    await writeFile(path, text, { mode: 0o600 });
    if (account) await chown(path, account.uid, account.gid);
  };
  await write(settings, configuration(server, port, users));
  await write(users, `"postgres" "${decodeURIComponent(server.password)}"\n`);
  const url = new URL(postgresUrl);
  url.port = String(port);
  return startServer({
    name: 'pgbouncer',
    url: url.href,
    command: {
      file: 'pgbouncer',
      args: [settings],
      cwd: folder.path,
      env: { ...baseEnv(), PATH: [...searchPath(), '/usr/sbin'].join(':') },
      account,
      stopSignal: 'SIGTERM',
      logFile: join(folder.path, 'pgbouncer.log'),
    },
    isReady: () => answersSql(url.href),
    cleanUp: folder.remove,
  });
};

const usage = `test:pgbouncer FOLDER…: runs tests with PgBouncer 1.21 or newer (from the PATH) between services and PostgreSQL, in
transaction mode as docs/scaling.md describes`;

await runProgram(usage, async (args) => {
  const postgres = await startPostgres();
  const pgbouncer = await startPgbouncer(postgres.url);
  try {
    const tests = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), ...args], {
      stdio: 'inherit',
      env: inheritedEnv({ TEST_POSTGRES_URL: pgbouncer.url }),
    });
    // Ignored here: Ctrl-C also reaches the tests, and this process must stop the servers afterwards.
    process.on('SIGINT', () => {});
    const [code] = (await once(tests, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
  } finally {
    await pgbouncer.stop();
    await postgres.stop();
  }
});
