import { join } from 'node:path';
import { prepareGateway } from '@platform/gateway/config';
import type { ProgramHost } from './backing-services.ts';
import { baseEnv, serviceEnv } from './env.ts';
import { rotateLogs } from './log-file.ts';
import { ROOT } from './options.ts';
import { signal } from './process.ts';
import { respondsOk } from './service-process.ts';
import type { Service } from './services.ts';
import { lastLines, run } from './spawn.ts';

const READY_MS = 30_000;

/** Settings that differ between local gateways. */
export interface GatewayPlan {
  /** Address of the gateway. */
  url: string;
  /** Path of the nginx program. */
  file: string;
  /** `host:port` of each instance of each service. */
  upstreams: Record<string, string[]>;
  /** Absolute paths of the certificate and its key, and the port for TLS. */
  tls: { port: number; certificate: string; key: string } | undefined;
  /** Also listens on [::1]. */
  ipv6: boolean;
  /** Port of the metrics (TCP) and of the datagrams that they count (UDP); nginx's own metrics use the next port. */
  metricsPort: number | undefined;
  docsDir: string;
  demoServer: string;
  /** Shared with the services. */
  secret: string;
}

/** Starts the process that counts the requests of the gateway, and waits until it is ready. */
export const startTelemetry = async ({ supervisor, local }: ProgramHost, port: number): Promise<void> => {
  const program = supervisor.start('gateway', {
    name: 'gateway-telemetry',
    command: {
      file: process.execPath,
      args: [join(ROOT, 'infra/gateway-telemetry/src/main.ts')],
      cwd: local.path,
      env: { ...baseEnv(), ...serviceEnv(), HOST: '127.0.0.1', PORT: String(port) },
      stopSignal: 'SIGTERM',
      logFile: local.logFile('gateway-telemetry'),
    },
    isReady: () => respondsOk(`http://127.0.0.1:${port}/livez`),
    stopLimitMs: 5_000,
  });
  await program.ready(READY_MS);
};

/** Starts nginx in front of the services and waits until it responds. */
export const startGateway = async (
  { supervisor, local }: ProgramHost,
  { url, file, tls, ipv6, metricsPort, ...options }: GatewayPlan,
): Promise<void> => {
  const listenOn = (port: string | number): string[] =>
    ['127.0.0.1', ...(ipv6 ? ['[::1]'] : [])].map((address) => `${address}:${port}`);
  const logDir = join(local.path, 'logs', 'gateway');
  const { args } = await prepareGateway({
    listen: listenOn(new URL(url).port),
    ...(metricsPort !== undefined && {
      telemetry: `127.0.0.1:${metricsPort}`,
      metrics: [`127.0.0.1:${metricsPort + 1}`],
    }),
    ...(tls && { tls: { listen: listenOn(tls.port), certificate: tls.certificate, key: tls.key } }),
    runDir: join(local.path, 'nginx'),
    logDir,
    requestLog: serviceEnv()['REQUEST_LOG'] === 'failures' ? 'failures' : 'all',
    corsOrigins: (serviceEnv()['CORS_ORIGINS'] ?? '').split(',').filter(Boolean),
    ...options,
  });
  rotateLogs(
    ['access', 'error'].map((name) => join(logDir, `${name}.log`)),
    () => {
      const pid = supervisor.pid('nginx');
      if (pid !== null) signal(pid, 'SIGUSR1');
    },
  );
  const program = supervisor.start('gateway', {
    name: 'nginx',
    command: {
      file,
      args,
      cwd: local.path,
      env: baseEnv(),
      // SIGQUIT lets running requests finish.
      stopSignal: 'SIGQUIT',
      logFile: local.logFile('gateway/nginx'),
    },
    isReady: () => respondsOk(`${url}/healthz`),
    stopLimitMs: 5_000,
  });
  await program.ready(READY_MS);
};

const PORTAL_BUILDER = join(ROOT, 'infra/portal/src/main.ts');

/**
 * Writes the pages that the gateway serves at /docs.
 * @throws with the last lines of the output if the build fails
 */
export const buildPortal = async (docsDir: string): Promise<void> => {
  const result = await run(process.execPath, [PORTAL_BUILDER, '--out', docsDir], { env: baseEnv() });
  if (result.code !== 0) throw new Error(`the portal could not be built:\n${lastLines(result.output)}`);
};

/** Settings of a service that contain addresses of portal pages; none without a gateway, because it serves the pages. */
export const pageSettings = ({ pages }: Service, gateway: string | null): Record<string, string> =>
  gateway === null
    ? {}
    : Object.fromEntries(Object.entries(pages).map(([variable, path]) => [variable, gateway + path]));

/** Demo data that the pages use. */
type DemoData = {
  user?: object;
  questId?: string;
  store?: { id?: string; webhookToken?: string };
  wallet?: { hmacSecret?: string };
  verifyApiKey?: string;
};

/** Credentials that the portal fills in for "try it". */
export const demoCredentials = (accessToken: string, demo: DemoData): object => {
  const { user, questId, store, wallet, verifyApiKey } = demo;
  return {
    accessToken,
    apiKey: verifyApiKey,
    hmacSecret: wallet?.hmacSecret,
    ...user,
    questId,
    store: store && { id: store.id, webhookToken: store.webhookToken },
  };
};
