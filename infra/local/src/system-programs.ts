import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { searchPath } from './env.ts';

/** Programs that npm does not provide: their names in the PATH, and their packages for Debian and Homebrew. */
const PROGRAMS = {
  'redis-server': { names: ['redis-server', 'valkey-server'], debian: 'redis-server', brew: 'redis' },
  nginx: { names: ['nginx'], debian: 'nginx', brew: 'nginx' },
  // The headless shell has no browser windows: it renders the same with a third of the processor time.
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

/** A program that the platform or its tests need. psql is not one of them: only `pnpm psql` uses it. */
export type Program = Exclude<keyof typeof PROGRAMS, 'psql'>;

/** Folders of system programs that may be missing in PATH. */
const EXTRA_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/opt/homebrew/bin'];

export const programs = Object.keys(PROGRAMS).filter((name): name is Program => name !== 'psql');

export const debianPackage = (program: Program): string => PROGRAMS[program].debian;

/** One line that explains how to install the program. */
export const installHint = (program: keyof typeof PROGRAMS): string => {
  const { debian, brew } = PROGRAMS[program];
  return `Install it with "apt-get install ${debian}" or "brew install ${brew}".`;
};

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Returns the path of the program; null if it is not installed. */
export const findProgram = async (program: Program): Promise<string | null> => {
  const folders = [...searchPath(), ...EXTRA_FOLDERS];
  for (const path of PROGRAMS[program].names.flatMap((name) => folders.map((folder) => join(folder, name))))
    if (await isProgram(path)) return path;
  return null;
};
