import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { searchPath } from './env.ts';

/** Programs that are not in npm packages. */
export type Program = 'redis-server' | 'nginx' | 'chromium';

const NAMES: Record<Program, string[]> = {
  'redis-server': ['redis-server', 'valkey-server'],
  nginx: ['nginx'],
  // The headless shell renders the same and needs a third of the processor time: it has no windows of a browser.
  chromium: [
    'chromium-headless-shell',
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
  ],
};

const DEBIAN: Record<Program, string> = {
  'redis-server': 'redis-server',
  nginx: 'nginx',
  chromium: 'chromium-headless-shell',
};

const BREW: Record<Program, string> = {
  'redis-server': 'redis',
  nginx: 'nginx',
  chromium: '--cask chromium',
};

/** Folders of system programs that may be missing in PATH. */
const ALSO = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/opt/homebrew/bin'];

export const debianPackage = (program: Program): string => DEBIAN[program];

/** How to get the program, in one line. */
export const howToGet = (program: Program | 'psql'): string => {
  const [debian, brew] =
    program === 'psql' ? ['postgresql-client', 'libpq'] : [DEBIAN[program], BREW[program]];
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
  for (const path of NAMES[program].flatMap((name) => folders.map((folder) => join(folder, name))))
    if (await isProgram(path)) return path;
  return null;
};
