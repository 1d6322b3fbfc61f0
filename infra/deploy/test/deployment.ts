import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { inherited } from './env.ts';
import { root } from './service.ts';

/** Runs prepare-compose for a folder, under a umask that hides files from other users, and returns the folder. */
export const prepare = (
  folder: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): string => {
  const script = join(root, 'infra/deploy/src/prepare.ts');
  const command = 'umask 077; exec "$0" "$@"';
  execFileSync('sh', ['-c', command, process.execPath, script, '--out', folder, ...args], {
    env: { ...inherited, ...env },
  });
  return folder;
};

/** Number of replicas of a pod and its memory. */
interface Size {
  replicas: { min: number; max: number };
  resources: { memory: string; memoryLimit: string };
}

export interface ServiceValues extends Size {
  secrets: string[];
  pool: number;
  connectionsBesidePool?: number;
  volume?: object;
  settings?: Record<string, string>;
}

/** The default values of the chart. */
export const values = parse(readFileSync(join(root, 'infra/deploy/chart/values.yaml'), 'utf8')) as {
  auth: { jwks: string; issuer: string; audience: string };
  gateway: Size;
  nginx: { trustedProxies: string[] };
  connections: number;
  services: Record<string, ServiceValues>;
};

/** The services of the chart, with their names. */
export const services = Object.entries(values.services).map(([name, service]) => ({
  name,
  connectionsBesidePool: 0,
  ...service,
}));

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const namesIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}(?:\/\/.*)?([A-Z][A-Z0-9_]+):/gm)].map(([, name = '']) => name);

/** Names of the variables that a service reads. */
export const settingsOf = (service: string): string[] => {
  const envFile = read(`services/${service}/src/env.ts`);
  return [
    // The OpenTelemetry SDK reads this variable.
    'OTEL_RESOURCE_ATTRIBUTES',
    ...namesIn(read('packages/service-kit/src/process/env.ts')),
    ...(envFile.includes('...tokenEnv')
      ? namesIn(read('packages/service-kit/src/process/token-env.ts'))
      : []),
    ...(envFile.includes('...searchEnv')
      ? namesIn(read('packages/service-kit/src/database/search-pool.ts'))
      : []),
    ...(envFile.includes('...subscriptionEnv')
      ? namesIn(read('packages/outgoing-webhooks/src/subscriptions.ts'))
      : []),
    ...(envFile.includes('...mailEnv') || envFile.includes('...subscriptionEnv')
      ? namesIn(read('packages/mail/src/address.ts'))
      : []),
    ...namesIn(envFile),
  ];
};
