import { join } from 'node:path';
import { prepareGateway } from '@platform/gateway/files';
import { baseEnv } from './env.ts';
import type { Site } from './foundation.ts';
import type { Portal } from './portal.ts';
import { answersWell } from './service-launch.ts';

const READY_MS = 30_000;

/** Starts nginx in front of the services and waits until it answers; its address is that of the port. */
export const startGateway = async (
  { crew, local }: Site,
  url: string,
  file: string,
  upstreams: Record<string, string>,
  portal: Portal,
): Promise<void> => {
  const { args } = await prepareGateway({
    listen: new URL(url).host,
    upstreams,
    runDir: join(local.path, 'nginx'),
    logDir: join(local.path, 'logs', 'gateway'),
    ...portal,
  });
  const supervised = crew.start('gateway', {
    name: 'nginx',
    command: {
      file,
      args,
      cwd: local.path,
      env: baseEnv(),
      // Finishes the requests that are under way.
      stopSignal: 'SIGQUIT',
      logFile: await local.logFile('nginx'),
    },
    answers: () => answersWell(`${url}/healthz`),
    stopLimitMs: 5_000,
  });
  await supervised.ready(READY_MS);
};
