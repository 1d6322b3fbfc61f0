import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { mayInstall, startEnv } from './env.ts';

/** Root of the checkout. */
export const ROOT = resolve(import.meta.dirname, '../../..');

export const USAGE = `Starts the platform on this machine. Ctrl-C stops it.

  --watch            restart a service when its code changes ("dev" does this)
  --no-install       download nothing; say what is missing and run without it
  --instances 2      two processes of each service behind the gateway
  --local FOLDER     data and logs (.local)
  --services FOLDER  the services (services)

Variables: GATEWAY_PORT (8080), PORT_BASE (4100), DATABASE_URL, REDIS_URL; all others are in infra/local/README.md.`;

/** Options of `start`. */
export interface StartOptions extends ReturnType<typeof startEnv> {
  /** How many processes of each service run behind the gateway. */
  instances: number;
  servicesFolder: string;
  watch: boolean;
  localFolder: string;
  mayInstall: boolean;
}

/**
 * Reads the command line and the environment of `start`.
 * @throws naming the argument or variable that is wrong
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
