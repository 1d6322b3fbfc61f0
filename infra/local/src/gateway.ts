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
  docsDir: string;
  demoServer: string;
  /** Shared with the services. */
  secret: string;
}

/** Starts nginx in front of the services and waits until it answers; its address is that of the port. */
export const startGateway = async (
  { supervisor, local }: Site,
  { url, file, ...options }: GatewayPlan,
): Promise<void> => {
  await local.logFile('gateway/access');
  const { args } = await prepareGateway({
    listen: new URL(url).host,
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
