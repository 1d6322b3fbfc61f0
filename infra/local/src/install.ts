import { rm, writeFile } from 'node:fs/promises';
import { baseEnv } from './env.ts';
import { exists } from './files.ts';
import { debianPackage, findProgram, howToGet, type Program } from './programs.ts';
import { run } from './run.ts';
import { say } from './say.ts';
import { watch } from './watch.ts';

const canInstall = async (): Promise<boolean> =>
  process.getuid?.() === 0 && (await exists('/etc/debian_version')) && (await exists('/usr/bin/apt-get'));

const aptGet = async (...args: string[]): Promise<boolean> => {
  const env = { ...baseEnv(), DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  return (await run('apt-get', [...wait, '-q', '-y', ...args], { env })).code === 0;
};

/** Debian asks this program before it starts a daemon; 101 means no. */
const POLICY = '/usr/sbin/policy-rc.d';

/** Runs the work with the start of daemons forbidden, unless the machine has a policy of its own. */
const withoutDaemons = async (work: () => Promise<void>): Promise<void> => {
  if (await exists(POLICY)) return work();
  // Were we killed meanwhile, the machine would start no daemon any more: the reaper takes it away too.
  watch({ folder: POLICY });
  await writeFile(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await work();
  } finally {
    await rm(POLICY, { force: true });
    watch({ keep: POLICY });
  }
};

const install = async (programs: Program[]): Promise<void> => {
  const packages = programs.map(debianPackage);
  say(`Installing ${packages.join(', ')} with apt-get (--no-install or PLATFORM_NO_INSTALL=1 forbids it) …`);
  const add = (): Promise<boolean> => aptGet('install', '--no-install-recommends', ...packages);
  await withoutDaemons(async () => {
    // The lists of a fresh container are empty or old; those of a workstation usually are not.
    if (!(await add()) && (await aptGet('update'))) await add();
  });
  // The package switches its daemon on for the next boot; nobody asked for that.
  if (await exists('/run/systemd/system')) await run('systemctl', ['disable', ...packages]);
};

/** Where each program is; null for one that is missing. */
export type Found = Record<Program, string | null>;

/**
 * Finds the programs, and on Debian as root installs those that are missing, saying so.
 * Names each one that is still missing and how to get it.
 */
export const providePrograms = async (wanted: readonly Program[], mayInstall: boolean): Promise<Found> => {
  const missing = async (): Promise<Program[]> => {
    const paths = await Promise.all(wanted.map(findProgram));
    return wanted.filter((_, index) => !paths[index]);
  };
  const before = await missing();
  if (before.length > 0 && mayInstall && (await canInstall())) await install(before);
  for (const program of await missing()) say(`Missing: ${program}. ${howToGet(program)}`);
  return findPrograms();
};

/** Where each program is, without installing anything. */
export const findPrograms = async (): Promise<Found> => ({
  'redis-server': await findProgram('redis-server'),
  nginx: await findProgram('nginx'),
  chromium: await findProgram('chromium'),
});
