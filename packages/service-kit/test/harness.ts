import type {} from '@platform/local/provided';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import postgres from 'postgres';
import { inject } from 'vitest';
import { createMetrics } from '../src/process/metrics.ts';
import { createHttpServer } from '../src/http/server.ts';
import { listen } from '../src/process/service.ts';
import { captureLog, cloneDatabase } from '../src/testing/index.ts';
import { createApp, createContext, parseEnv, migrations } from './fixture/service.ts';

/** Starts the fixture service with its own database. */
export const startFixture = async (variables: Record<string, string> = {}) => {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  const { log, lines } = captureLog();
  const env = parseEnv({ PORT: '0', DATABASE_URL: database.url, RATE_LIMIT: 'off', ...variables });
  const context = stack.use(createContext(env, { log, metrics: createMetrics() }));
  const { listener, document } = createApp(context);
  const server = createHttpServer(listener, {
    maxConnections: env.MAX_CONNECTIONS,
    maxUnsentBytes: env.ANSWER_MEMORY_BYTES,
    clientAddress: context.clientAddress,
    onEnded: context.metrics.recordRefused,
  });
  const { port }: AddressInfo = await listen(server, '127.0.0.1', 0);
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    app: listener,
    url,
    port,
    context,
    document,
    lines,
    database,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

/** Sends raw bytes and returns everything that is received until the connection ends. */
export const sendRaw = async (port: number, bytes: string | Buffer): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
};

/** A statement that waits while a test holds the lock of `holdLock`. */
export const waitForLock = (sql: postgres.Sql | postgres.TransactionSql) =>
  sql`select pg_advisory_lock(1), pg_advisory_unlock(1)`;

/** Holds a lock of the database at `url`, for which `waitForLock` waits until `release`. */
export const holdLock = async (url: string) => {
  const sql = postgres(url, { max: 1 });
  const hold = async (): Promise<void> => void (await sql`select pg_advisory_lock(1)`);
  await hold();
  return {
    hold,
    release: async (): Promise<void> => void (await sql`select pg_advisory_unlock(1)`),
    [Symbol.asyncDispose]: () => sql.end(),
  };
};
