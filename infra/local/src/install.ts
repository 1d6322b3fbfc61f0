import { rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { baseEnv, inCi } from './env.ts';
import { exists } from './local-folder.ts';
import { debianPackage, findProgram, howToGet, type Program, programs } from './programs.ts';
import { run } from './spawn.ts';
import { say } from './say.ts';
import { cleanUpAfterExit } from './cleanup.ts';

const canInstall = async (): Promise<boolean> =>
  process.getuid?.() === 0 && (await exists('/etc/debian_version')) && (await exists('/usr/bin/apt-get'));

const aptGet = async (...args: string[]): Promise<boolean> => {
  const env = { ...baseEnv(), DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  return (await run('apt-get', [...wait, '-q', '-y', ...args], { env })).code === 0;
};

/** Debian asks this script before it starts a daemon; exit code 101 forbids it. */
const POLICY = '/usr/sbin/policy-rc.d';

/** Runs `work` while Debian may not start daemons, unless the machine has its own policy. */
const withoutDaemons = async (work: () => Promise<void>): Promise<void> => {
  if (await exists(POLICY)) return work();
  // The file must be removed even if this process is killed, because it keeps every daemon from starting.
  cleanUpAfterExit({ path: POLICY });
  await writeFile(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await work();
  } finally {
    await rm(POLICY, { force: true });
    cleanUpAfterExit({ removedPath: POLICY });
  }
};

const install = async (programs: Program[]): Promise<void> => {
  const packages = programs.map(debianPackage);
  say(`Installing ${packages.join(', ')} with apt-get (--no-install or PLATFORM_NO_INSTALL=1 forbids it) …`);
  const add = (): Promise<boolean> => aptGet('install', '--no-install-recommends', ...packages);
  await withoutDaemons(async () => {
    // A new container has no package lists or old ones; a workstation usually has current ones.
    if (!(await add()) && (await aptGet('update'))) await add();
  });
  // The package enables its daemon at boot; `start` runs its own and needs none.
  if (await exists('/run/systemd/system')) await run('systemctl', ['disable', ...packages]);
};

/** Where each program is; null for one that is missing. */
export type ProgramPaths = Record<Program, string | null>;

/** A browser with windows renders the same as the headless shell, in three times its processor time. */
const isSlowBrowser = (program: Program, path: string): boolean =>
  program === 'chromium' && basename(path) !== debianPackage(program);

/**
 * Finds the programs. As root on Debian it installs missing ones and says so; in an unattended run also the headless
 * shell in place of another browser. For a program that is still missing it prints how to get it.
 */
export const providePrograms = async (
  wanted: readonly Program[],
  mayInstall: boolean,
): Promise<ProgramPaths> => {
  const lacking = async (isEnough: (program: Program, path: string) => boolean): Promise<Program[]> => {
    const paths = await Promise.all(wanted.map(findProgram));
    return wanted.filter((program, at) => !paths[at] || !isEnough(program, paths[at]));
  };
  const before = await lacking((program, path) => !inCi() || !isSlowBrowser(program, path));
  if (before.length > 0 && mayInstall && (await canInstall())) await install(before);
  for (const program of await lacking(() => true)) say(`Missing: ${program}. ${howToGet(program)}`);
  const paths = programs.map(async (program) => [program, await findProgram(program)] as const);
  return Object.fromEntries(await Promise.all(paths)) as ProgramPaths;
};
