import { join } from 'node:path';
import { prepareGateway } from '@platform/gateway/files';
import { baseEnv, serviceEnv } from './env.ts';
import type { Site } from './backing-services.ts';
import { answersWell } from './service-process.ts';

const READY_MS = 30_000;

/** What differs from one local gateway to another. */
export interface GatewayPlan {
  /** Address of the gateway. */
  url: string;
  /** The nginx program. */
  file: string;
  /** `host:port` of each instance of each service. */
  upstreams: Record<string, string[]>;
  /** Its certificate (absolute paths), and the port for TLS. */
  tls: { port: number; certificate: string; key: string } | undefined;
  /** Listens on [::1], too. */
  ipv6: boolean;
  docsDir: string;
  demoServer: string;
  /** Shared with the services. */
  secret: string;
}

/** Starts nginx in front of the services and waits until it answers; its address is that of the port. */
export const startGateway = async (
  { supervisor, local }: Site,
  { url, file, tls, ipv6, ...options }: GatewayPlan,
): Promise<void> => {
  await local.logFile('gateway/access');
  const listenOn = (port: string | number): string[] =>
    ['127.0.0.1', ...(ipv6 ? ['[::1]'] : [])].map((address) => `${address}:${port}`);
  const { args } = await prepareGateway({
    listen: listenOn(new URL(url).port),
    ...(tls && { tls: { ...tls, listen: listenOn(tls.port) } }),
    runDir: join(local.path, 'nginx'),
    logDir: join(local.path, 'logs', 'gateway'),
    requestLog: serviceEnv()['REQUEST_LOG'] === 'failures' ? 'failures' : 'all',
    ...options,
  });
  const program = supervisor.start('gateway', {
    name: 'nginx',
    command: {
      file,
      args,
      cwd: local.path,
      env: baseEnv(),
      // Lets running requests finish.
      stopSignal: 'SIGQUIT',
      logFile: await local.logFile('nginx'),
    },
    answers: () => answersWell(`${url}/healthz`),
    stopLimitMs: 5_000,
  });
  await program.ready(READY_MS);
};
