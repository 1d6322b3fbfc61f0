import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { mayInstall, startEnv } from './env.ts';

/** Root of the checkout. */
export const ROOT = resolve(import.meta.dirname, '../../..');

export const USAGE = `Starts the platform on this machine. Ctrl-C stops it.

  --watch            restart a service when its code changes ("dev" does this)
  --no-install       download nothing; report missing programs and run without them
  --instances 2      two processes of each service behind the gateway
  --local FOLDER     data and logs (.local)
  --services FOLDER  folder of the services (services)

Variables: GATEWAY_PORT (8080), PORT_BASE (4100), DATABASE_URL, REDIS_URL; all others are in infra/local/README.md.`;

/** Options of `start`. */
export interface StartOptions extends ReturnType<typeof startEnv> {
  /** Number of processes of each service behind the gateway. */
  instances: number;
  servicesFolder: string;
  watch: boolean;
  localFolder: string;
  mayInstall: boolean;
}

/**
 * Reads the command line and the environment of `start`.
 * @throws with the name of the invalid argument or variable
 */
export const readOptions = (args: string[]): StartOptions => {
  const { values } = parseArgs({
    args,
    options: {
      instances: { type: 'string', default: '1' },
      watch: { type: 'boolean', default: false },
      'no-install': { type: 'boolean', default: false },
      services: { type: 'string', default: resolve(ROOT, 'services') },
      local: { type: 'string', default: resolve(ROOT, '.local') },
    },
  });
  if (!['1', '2'].includes(values.instances))
    throw new Error(`--instances must be 1 or 2, not "${values.instances}"`);
  return {
    ...startEnv(),
    instances: Number(values.instances),
    watch: values.watch,
    servicesFolder: resolve(values.services),
    localFolder: resolve(values.local),
    mayInstall: mayInstall() && !values['no-install'],
  };
};
