import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { searchPath } from './env.ts';

/** Programs that are not in npm packages: their names in the PATH, and the packages of Debian and Homebrew. */
const PROGRAMS = {
  'redis-server': { names: ['redis-server', 'valkey-server'], debian: 'redis-server', brew: 'redis' },
  nginx: { names: ['nginx'], debian: 'nginx', brew: 'nginx' },
  // The headless shell renders the same and needs a third of the processor time: it has no windows of a browser.
  chromium: {
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
  promtool: { names: ['promtool'], debian: 'prometheus', brew: 'prometheus' },
  zsh: { names: ['zsh'], debian: 'zsh', brew: 'zsh' },
  python3: { names: ['python3'], debian: 'python3', brew: 'python' },
  php: { names: ['php'], debian: 'php-cli', brew: 'php' },
  psql: { names: ['psql'], debian: 'postgresql-client', brew: 'libpq' },
};

/** A program that the platform or its tests need; without psql there is only no `pnpm psql`. */
export type Program = Exclude<keyof typeof PROGRAMS, 'psql'>;

/** Folders of system programs that may be missing in PATH. */
const ALSO = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/opt/homebrew/bin'];

export const programs = Object.keys(PROGRAMS).filter((name): name is Program => name !== 'psql');

export const debianPackage = (program: Program): string => PROGRAMS[program].debian;

/** How to get the program, in one line. */
export const howToGet = (program: keyof typeof PROGRAMS): string => {
  const { debian, brew } = PROGRAMS[program];
  return `Get it with "apt-get install ${debian}" or "brew install ${brew}".`;
};

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** The path of the program, or null when it is not installed. */
export const findProgram = async (program: Program): Promise<string | null> => {
  const folders = [...searchPath(), ...ALSO];
  for (const path of PROGRAMS[program].names.flatMap((name) => folders.map((folder) => join(folder, name))))
    if (await isProgram(path)) return path;
  return null;
};
