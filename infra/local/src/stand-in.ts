import { join } from 'node:path';
import { baseEnv } from './env.ts';
import { ROOT, type StartOptions } from './options.ts';
import {
  addressOf,
  answers,
  environment,
  isSetFor,
  type Launch,
  type ServiceSettings,
} from './service-process.ts';
import type { Service } from './services.ts';

const READY_MS = 60_000;
const STOP_LIMIT_MS = 5_000;

/**
 * Returns the stand-in that `start` runs for a service, with its port; undefined if the service has none, or if the variable
 * with the address of the other party is set.
 */
export const standInOf = (service: Service, { portBase }: Pick<StartOptions, 'portBase'>) => {
  const { standIn } = service;
  if (standIn === undefined || isSetFor(service, standIn.urlVariable)) return undefined;
  return { ...standIn, port: portBase + standIn.port };
};

/** Settings that point a service at its stand-in; empty without one. */
export const standInSettings = (standIn: ReturnType<typeof standInOf>): Record<string, string> =>
  standIn === undefined ? {} : { ...standIn.settings, [standIn.urlVariable]: addressOf(standIn) };

/**
 * Starts the stand-in of a service, if it has one, and waits until it answers. It knows the secrets of the service and
 * its public address.
 * @throws with the end of its log when it does not come up
 */
export const startStandIn = async (
  { supervisor, local }: Pick<Launch, 'supervisor' | 'local'>,
  service: Service,
  settings: ServiceSettings,
  options: StartOptions,
): Promise<void> => {
  const standIn = standInOf(service, options);
  if (standIn === undefined) return;
  const { name, port, program, args, serviceUrlVariable } = standIn;
  const variables = environment(service, settings);
  const running = supervisor.start('service', {
    name,
    command: {
      file: process.execPath,
      args: [join(options.servicesFolder, '..', program), ...args, '--port', String(port)],
      cwd: ROOT,
      env: {
        ...baseEnv(),
        ...Object.fromEntries(service.secrets.map((secret) => [secret, variables[secret] ?? ''])),
        [serviceUrlVariable]: settings.publicUrl,
      },
      stopSignal: 'SIGTERM',
      logFile: local.logFile(name),
    },
    answers: () => answers(addressOf({ port })),
    stopLimitMs: STOP_LIMIT_MS,
  });
  await running.ready(READY_MS);
};
