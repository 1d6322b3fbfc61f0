import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { searchPath } from './env.ts';

/** Programs that no npm package brings. */
export type Program = 'redis-server' | 'nginx' | 'chromium';

/** Names under which a program is found, and what holds it on Debian and with Homebrew. */
const KNOWN: Record<Program, { names: string[]; debian: string; brew: string }> = {
  'redis-server': {
    names: ['redis-server', 'valkey-server'],
    debian: 'redis-server',
    brew: 'redis',
  },
  nginx: { names: ['nginx'], debian: 'nginx', brew: 'nginx' },
  chromium: {
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    debian: 'chromium',
    brew: '--cask chromium',
  },
};

/** System programs are not on everybody's PATH. */
const ALSO = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/opt/homebrew/bin'];

export const debianPackage = (program: Program): string => KNOWN[program].debian;

/** One line that tells a person how to get the program. */
export const howToGet = (program: Program): string =>
  `Get it with "apt-get install ${KNOWN[program].debian}" or "brew install ${KNOWN[program].brew}".`;

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** The path of the program, or null when this machine has none. */
export const findProgram = async (program: Program): Promise<string | null> => {
  for (const name of KNOWN[program].names) {
    for (const folder of [...searchPath(), ...ALSO]) {
      const path = join(folder, name);
      if (await isProgram(path)) return path;
    }
  }
  return null;
};
