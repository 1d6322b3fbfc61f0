import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { searchPath } from './env.ts';
import { ROOT } from './options.ts';

/** Programs that are not in npm packages. */
export type Program = 'redis-server' | 'nginx' | 'chromium';

const NAMES: Record<Program, string[]> = {
  'redis-server': ['redis-server', 'valkey-server'],
  nginx: ['nginx'],
  // The headless shell renders the same and needs half of the processor time: it has no windows of a browser.
  chromium: [
    'chromium-headless-shell',
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
  ],
};

/** The Debian package of each program, and the path of the program in it. */
export const DEBIAN: Record<Program, { name: string; path: string }> = {
  'redis-server': { name: 'redis-server', path: 'usr/bin/redis-server' },
  nginx: { name: 'nginx', path: 'usr/sbin/nginx' },
  chromium: { name: 'chromium-headless-shell', path: 'usr/lib/chromium/chromium-headless-shell' },
};

const BREW: Record<Program, string> = {
  'redis-server': 'redis',
  nginx: 'nginx',
  chromium: '--cask chromium',
};

/** Folders of system programs that may be missing in PATH. */
const ALSO = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/opt/homebrew/bin'];

/** Where packages of Debian are unpacked, each in a folder with a program of its name. */
export const UNPACKED = join(ROOT, 'node_modules/.cache/debian');

/** How to get the program, in one line. */
export const howToGet = (program: Program | 'psql'): string => {
  const [debian, brew] =
    program === 'psql' ? ['postgresql-client', 'libpq'] : [DEBIAN[program].name, BREW[program]];
  return `Get it with "apt-get install ${debian}" or "brew install ${brew}".`;
};

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** The path of the program, or null when this machine does not have it. */
export const findProgram = async (program: Program): Promise<string | null> => {
  const { name } = DEBIAN[program];
  const paths = NAMES[program].flatMap((each) =>
    [...searchPath(), ...ALSO].map((folder) => join(folder, each)),
  );
  for (const path of [...paths, join(UNPACKED, name, name)]) if (await isProgram(path)) return path;
  return null;
};
