import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { openTracing } from '@platform/tracing/trace';
import { checkConnectionShare } from '../database/connection-share.ts';
import { connectionsOfProcess } from '../database/database.ts';
import { certificateFault } from '../database/server-certificate.ts';
import type { HttpApp } from '../http/app.ts';
import { behindGateway } from '../http/network.ts';
import { createHttpServer } from '../http/server.ts';
import { drain } from '../overload/drain.ts';
import type { BaseContext, LogAndMetrics } from './context.ts';
import { exitForSettings, settingsOrExit, type CommonEnv } from './env.ts';
import { createLog } from './log.ts';
import { addPoolMetrics, addProcessMetrics, addRedisMetrics, createMetrics } from './metrics.ts';

/**
 * Lets the heap grow to four times its used size before V8 collects the old generation. By default V8 allowed growth of a
 * tenth when little survives, and collected several times a second under load, 60 ms of CPU each. Set here and not in the
 * image, because NODE_OPTIONS does not accept this option (ADR 71).
 */
export const raiseGcThreshold = (): void => setFlagsFromString('--heap-growing-percent=300');

interface ServiceOptions<Env extends CommonEnv, Context extends BaseContext> {
  name: string;
  /** Reads the settings; see `settingsOrExit`. */
  env: () => Env;
  createContext: (env: Env, logAndMetrics: LogAndMetrics) => Context | Promise<Context>;
  createApp: (context: Context) => HttpApp;
}

/** Maximum number of connections for probes and scrapes, which come only from this machine or the cluster. */
const probeConnections = 100;

/** Starts to listen. Resolves when the server accepts connections. */
export const listen = async (server: Server, host: string, port: number): Promise<AddressInfo> => {
  server.listen(port, host);
  await once(server, 'listening');
  return server.address() as AddressInfo;
};

/**
 * Runs a service until SIGTERM. Probes have a second listener on PROBE_PORT. SIGTERM turns readiness off; the service
 * accepts requests for another DRAIN_MS, finishes running requests, closes its pools and exits with 0, or with 1 when that
 * takes longer than SHUTDOWN_TIMEOUT_MS. SIGINT (Ctrl-C) does the same without DRAIN_MS.
 */
export const runService = async <Env extends CommonEnv, Context extends BaseContext>(
  options: ServiceOptions<Env, Context>,
): Promise<void> => {
  const { name, createContext, createApp } = options;
  const env = settingsOrExit(name, options.env);
  raiseGcThreshold();
  const tracing = await openTracing(name, env);
  const log = createLog(name, env.LOG_LEVEL, undefined, tracing?.fields);
  // Set before anything can fail, because the default handler of Node.js prints all fields of an error.
  process.on('uncaughtException', (err) => {
    // The state is unknown: log the reason and let the supervisor start a new process.
    log.fatal({ err }, 'uncaught');
    log.flush(() => process.exit(70));
  });
  const metrics = createMetrics();
  // Some settings are checked only when the context is opened, such as the parameters of DATABASE_URL.
  const openContext = async () => createContext(env, { log, metrics });
  const context = await openContext().catch((error: unknown) => exitForSettings(name, error));
  addProcessMetrics(metrics);
  addPoolMetrics(metrics, context.database);
  addRedisMetrics(metrics, context.redis);
  const app = createApp(context);
  // Created before the service listens, because it takes some tenths of a second, which requests would wait for.
  app.document();
  const listener = behindGateway(app.listener, env.GATEWAY_SECRET);
  const limited = (handle: RequestListener, maxConnections: number): Server =>
    createHttpServer(handle, {
      maxConnections,
      maxUnsentBytes: env.ANSWER_MEMORY_BYTES,
      clientAddress: context.clientAddress,
      onEnded: metrics.recordRefused,
    });
  const server = limited(tracing ? tracing.requests(listener) : listener, env.MAX_CONNECTIONS);
  // Starting leaves some 20 MB of garbage, which V8 would keep until the process is busy. Needs --expose-gc.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const probes = limited(behindGateway(app.probes, []), probeConnections);
  const probePort =
    env.PROBE_PORT === undefined ? undefined : (await listen(probes, env.HOST, env.PROBE_PORT)).port;
  const { address, port } = await listen(server, env.HOST, env.PORT);

  // Only for the log message, so the timeout is longer than a connection may take to open.
  context.database.ping(10_000).catch((error: unknown) => {
    const fault = certificateFault(error);
    if (fault !== undefined) log.error(fault);
  });
  void checkConnectionShare({
    database: context.database,
    log,
    name,
    connectionsEach: connectionsOfProcess(),
    sizedFor: env.DATABASE_REPLICAS,
  });

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    log.info({ signal }, 'stopping');
    context.health.draining = true;
    const deadline = setTimeout(() => process.exit(1), env.SHUTDOWN_TIMEOUT_MS);
    await drain(server, signal === 'SIGTERM' ? env.DRAIN_MS : 0);
    probes.close();
    probes.closeAllConnections();
    await context[Symbol.asyncDispose]();
    await tracing?.[Symbol.asyncDispose]();
    clearTimeout(deadline);
    log.flush(() => process.exit(0));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(signal));
  // Logged after the handlers are set: a program that waits for this line may send a signal at once.
  log.info({ address, port, probePort }, 'listening');
  log.flush();
};
