import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { baseEnv } from './env.ts';
import { privateKey } from './keys.ts';
import { readJson, writeJson, type LocalFolder } from './local-folder.ts';
import { ROOT, type StartOptions } from './options.ts';
import {
  addressOf,
  isReachable,
  environment,
  isSetFor,
  type Launch,
  type ServiceSettings,
} from './service-process.ts';
import { instanceName, type Service } from './services.ts';

/** Returns the secret with this name: 256 random bits in hex. The first call creates it, later calls return the same. */
export type Secrets = (name: string) => string;

/** Opens the secrets of a stack; only the owner can read their file. */
export const openSecrets = async (localPath: string): Promise<Secrets> => {
  const path = join(localPath, 'secrets.json');
  const stored = (await readJson<Record<string, string>>(path)) ?? {};
  return (name) => {
    const secret = stored[name] ?? randomBytes(32).toString('hex');
    if (stored[name] === undefined) {
      stored[name] = secret;
      writeJson(path, stored);
    }
    return secret;
  };
};

/**
 * The secrets, private keys (as JWKs) and folders that services.yaml lists for a service, by variable name. The first
 * start creates them, later ones reuse them. Each instance has separate folders.
 */
export const listedSettings = async (
  service: Service,
  local: LocalFolder,
  secrets: Secrets,
  instance: number,
): Promise<Record<string, string>> => {
  const { name, keys, folders } = service;
  const settings: Record<string, string> = {};
  for (const variable of service.secrets) settings[variable] = secrets(`${name}/${variable}`);
  for (const variable of keys)
    settings[variable] = JSON.stringify(await privateKey(local.keys, `${name}.${variable}`));
  for (const variable of folders) {
    const folder = join(local.path, 'folders', instanceName(service, instance), variable);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    settings[variable] = folder;
  }
  return settings;
};

const READY_MS = 60_000;
const STOP_LIMIT_MS = 5_000;

/**
 * Returns the stand-in that `start` runs for a service, with its port. Undefined if the service has none, or if the
 * address of the real party is set.
 */
export const standInOf = (service: Service, { portBase }: Pick<StartOptions, 'portBase'>) => {
  const { standIn } = service;
  if (standIn === undefined || isSetFor(service, standIn.urlVariable)) return undefined;
  return { ...standIn, port: portBase + standIn.port };
};

/** Settings with which a service calls its stand-in; empty without one. */
export const standInSettings = (standIn: ReturnType<typeof standInOf>): Record<string, string> =>
  standIn === undefined ? {} : { ...standIn.settings, [standIn.urlVariable]: addressOf(standIn) };

/**
 * Starts the stand-in of a service, if it has one, and waits until it responds. It gets the secrets and the public address
 * of the service.
 * @throws with the last lines of its log if it does not become ready
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
    isReady: () => isReachable(addressOf({ port })),
    stopLimitMs: STOP_LIMIT_MS,
  });
  await running.ready(READY_MS);
};
