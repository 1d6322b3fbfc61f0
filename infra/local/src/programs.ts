import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { searchPath } from './env.ts';

/** Programs that are not in npm packages. */
export type Program = 'redis-server' | 'nginx' | 'chromium';

/** Names of each program, and of its packages for Debian and Homebrew. */
const KNOWN: Record<Program, { names: string[]; debian: string; brew: string }> = {
  'redis-server': {
    names: ['redis-server', 'valkey-server'],
    debian: 'redis-server',
    brew: 'redis',
  },
  nginx: { names: ['nginx'], debian: 'nginx', brew: 'nginx' },
  chromium: {
    // The headless shell renders the same and needs half of the processor time: it has no windows of a browser.
    names: [
      'chromium-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome',
      'google-chrome-stable',
    ],
    debian: 'chromium-headless-shell',
    brew: '--cask chromium',
  },
};

const PSQL = { debian: 'postgresql-client', brew: 'libpq' };

/** Folders of system programs that may be missing in PATH. */
const ALSO = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/opt/homebrew/bin'];

export const debianPackage = (program: Program): string => KNOWN[program].debian;

/** How to get the program, in one line. */
export const howToGet = (program: Program | 'psql'): string => {
  const { debian, brew } = program === 'psql' ? PSQL : KNOWN[program];
  return `Get it with "apt-get install ${debian}" or "brew install ${brew}".`;
};

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** The path of the program, or null when it is not installed. */
export const findProgram = async (program: Program): Promise<string | null> => {
  for (const name of KNOWN[program].names) {
    for (const folder of [...searchPath(), ...ALSO]) {
      const path = join(folder, name);
      if (await isProgram(path)) return path;
    }
  }
  return null;
};
