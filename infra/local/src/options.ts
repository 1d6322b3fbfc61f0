import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { mayInstall, startEnv } from './env.ts';

/** Root of the checkout. */
export const ROOT = resolve(import.meta.dirname, '../../..');

/** Options of `start`. */
export interface StartOptions extends ReturnType<typeof startEnv> {
  servicesFolder: string;
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
      'no-install': { type: 'boolean', default: false },
      services: { type: 'string', default: resolve(ROOT, 'services') },
      local: { type: 'string', default: resolve(ROOT, '.local') },
    },
  });
  return {
    ...startEnv(),
    servicesFolder: resolve(values.services),
    localFolder: resolve(values.local),
    mayInstall: mayInstall() && !values['no-install'],
  };
};
