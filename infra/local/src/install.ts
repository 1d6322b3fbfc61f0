import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { machine } from 'node:os';
import { join } from 'node:path';
import { baseEnv } from './env.ts';
import { exists } from './files.ts';
import { DEBIAN, findProgram, howToGet, UNPACKED, type Program } from './programs.ts';
import { lastLines, run } from './spawn.ts';
import { say } from './say.ts';

/** Runs a program of Debian. @throws with the last line that it printed */
const debian = async (file: string, ...args: string[]): Promise<void> => {
  const { code, output } = await run(file, args, { env: { ...baseEnv(), LC_ALL: 'C' } });
  if (code !== 0) throw new Error(lastLines(output, 1));
};

/**
 * Downloads a package, and what it depends on and this machine lacks. Needs no root, because nothing is locked or installed,
 * and lists of packages are updated in a folder of ours.
 */
const download = async (name: string, folder: string): Promise<void> => {
  const options = ['Debug::NoLocking=1', `Dir::Cache::archives=${folder}`];
  const aptGet = (...args: string[]): Promise<void> =>
    debian('apt-get', '-q', '-y', ...options.flatMap((option) => ['-o', option]), ...args);
  const install = () => aptGet('install', '--download-only', '--no-install-recommends', name);
  // A new container has no package lists or old ones; a workstation usually has current ones.
  await install().catch(async () => {
    const lists = join(UNPACKED, 'lists');
    await mkdir(join(lists, 'partial'), { recursive: true });
    options.push(`Dir::State::lists=${lists}`);
    await aptGet('update');
    await install();
  });
};

/** Runs the program with the libraries of its folder, beside those of the system. */
const launcher = (path: string): string => {
  const libraries = ['usr/lib', 'lib'].map((folder) => `$folder/${folder}/${machine()}-linux-gnu`).join(':');
  return `#!/bin/sh\nfolder=$(dirname "$0")\nLD_LIBRARY_PATH=${libraries} exec "$folder/${path}" "$@"\n`;
};

/** The exit code when a library is missing. */
const NOT_LOADED = 127;

/**
 * Unpacks the package of a program into a folder of its own: nothing is installed, so no daemon starts and no system folder
 * changes.
 * @throws with the reason when the program cannot be had or does not run here
 */
const unpack = async ({ name, path }: (typeof DEBIAN)[Program]): Promise<void> => {
  await mkdir(UNPACKED, { recursive: true });
  const folder = await mkdtemp(join(UNPACKED, 'new-'));
  try {
    const archives = join(folder, 'archives');
    await mkdir(join(archives, 'partial'), { recursive: true });
    await download(name, archives);
    for (const file of await readdir(archives))
      if (file.endsWith('.deb')) await debian('dpkg-deb', '--extract', join(archives, file), folder);
    await rm(archives, { recursive: true });
    const program = join(folder, name);
    await writeFile(program, launcher(path), { mode: 0o755 });
    const { code, output } = await run(program, ['--version']);
    if (code === NOT_LOADED) throw new Error(lastLines(output, 1));
    // Another process may have unpacked it meanwhile.
    await rename(folder, join(UNPACKED, name)).catch(() => {});
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Where each program is; null for one that is missing. */
export type Found = Record<Program, string | null>;

/**
 * Finds the programs. On Debian it unpacks the packages of missing ones and says so. For a program that is still missing it
 * prints how to get it.
 */
export const providePrograms = async (wanted: readonly Program[], mayInstall: boolean): Promise<Found> => {
  for (const program of wanted) {
    if (await findProgram(program)) continue;
    if (mayInstall && (await exists('/etc/debian_version'))) {
      const { name } = DEBIAN[program];
      say(`Unpacking Debian's ${name} in ${UNPACKED} (--no-install or PLATFORM_NO_INSTALL=1 forbids it) …`);
      await unpack(DEBIAN[program]).catch((error: unknown) => say(`It failed: ${String(error)}`));
      if (await findProgram(program)) continue;
    }
    say(`Missing: ${program}. ${howToGet(program)}`);
  }
  return {
    'redis-server': await findProgram('redis-server'),
    nginx: await findProgram('nginx'),
    chromium: await findProgram('chromium'),
  };
};
