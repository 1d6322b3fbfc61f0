import type { Crew } from './crew.ts';
import { parseDemo, type Demo } from './demo.ts';
import type { LocalFolder } from './local-folder.ts';
import { runTask, serviceCommand, type Surroundings } from './service-programs.ts';
import type { Service } from './services.ts';

/** What all services are launched with. */
export interface Launch {
  crew: Crew;
  local: LocalFolder;
  adminToken: string;
  /** Aborted when the stack stops before it is up. */
  stopping: AbortSignal;
}

const READY_MS = 60_000;
/** A service may take 10 s to finish its running requests. */
const STOP_LIMIT_MS = 12_000;

export const addressOf = ({ port }: { port: number }): string => `http://127.0.0.1:${port}`;

/** Whether an address answers with a good status. */
export const answersWell = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.ok;
    },
    () => false,
  );

/**
 * Migrates a service, loads its demo data, starts it and waits until it is ready.
 * @throws with the end of the output of the step that failed
 */
export const launchService = async (
  launch: Launch,
  service: Service,
  around: Surroundings,
): Promise<Demo> => {
  const { crew, local, adminToken, stopping } = launch;
  await runTask(service, around, 'migrate', {}, stopping);
  const forDemo = { GATEWAY_URL: around.publicUrl, DEMO_ADMIN_TOKEN: adminToken };
  const demo = parseDemo(service.name, await runTask(service, around, 'demo', forDemo, stopping));
  const supervised = crew.start('service', {
    name: service.name,
    command: serviceCommand(service, around, await local.logFile(service.name)),
    answers: () => answersWell(`${addressOf(around)}/readyz`),
    stopLimitMs: STOP_LIMIT_MS,
  });
  await supervised.ready(READY_MS);
  return demo;
};
