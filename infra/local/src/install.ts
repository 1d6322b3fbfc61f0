import { rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { baseEnv, inCi } from './env.ts';
import { exists } from './local-folder.ts';
import { debianPackage, findProgram, installHint, type Program, programs } from './system-programs.ts';
import { run } from './spawn.ts';
import { print } from './print.ts';
import { cleanUpAfterExit } from './cleanup.ts';

const canInstall = async (): Promise<boolean> =>
  process.getuid?.() === 0 && (await exists('/etc/debian_version')) && (await exists('/usr/bin/apt-get'));

const aptGet = async (...args: string[]): Promise<boolean> => {
  const env = { ...baseEnv(), DEBIAN_FRONTEND: 'noninteractive' };
  const waitForLock = ['-o', 'DPkg::Lock::Timeout=300'];
  return (await run('apt-get', [...waitForLock, '-q', '-y', ...args], { env })).code === 0;
};

/** Debian runs this script before it starts a daemon; exit code 101 forbids the start. */
const POLICY = '/usr/sbin/policy-rc.d';

/** Prevents Debian from starting daemons while `work` runs, unless the machine already has a policy script. */
const withoutDaemons = async (work: () => Promise<void>): Promise<void> => {
  if (await exists(POLICY)) return work();
  // The file must be removed even if this process is killed, because it prevents every daemon from starting.
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
  print(
    `Installing ${packages.join(', ')} with apt-get (--no-install or PLATFORM_NO_INSTALL=1 forbids it) …`,
  );
  const installPackages = (): Promise<boolean> => aptGet('install', '--no-install-recommends', ...packages);
  await withoutDaemons(async () => {
    // A new container has no package lists or outdated ones; a workstation usually has current ones.
    if (!(await installPackages()) && (await aptGet('update'))) await installPackages();
  });
  // The package starts its daemon at boot; disable it, because `start` runs its own.
  if (await exists('/run/systemd/system')) await run('systemctl', ['disable', ...packages]);
};

/** Path of each program; null if it is missing. */
export type ProgramPaths = Record<Program, string | null>;

/** A full browser renders the same as the headless shell but needs three times the processor time. */
const isSlowBrowser = (program: Program, path: string): boolean =>
  program === 'chromium' && basename(path) !== debianPackage(program);

/**
 * Finds the programs. As root on Debian it installs missing ones and reports that; in an unattended run it also installs
 * the headless shell if there is only a full browser. For a program that is still missing it prints how to install it.
 */
export const providePrograms = async (
  wanted: readonly Program[],
  mayInstall: boolean,
): Promise<ProgramPaths> => {
  const findMissing = async (isSuitable: (program: Program, path: string) => boolean): Promise<Program[]> => {
    const paths = await Promise.all(wanted.map(findProgram));
    return wanted.filter((program, index) => !paths[index] || !isSuitable(program, paths[index]));
  };
  const toInstall = await findMissing((program, path) => !inCi() || !isSlowBrowser(program, path));
  if (toInstall.length > 0 && mayInstall && (await canInstall())) await install(toInstall);
  for (const program of await findMissing(() => true)) print(`Missing: ${program}. ${installHint(program)}`);
  const paths = programs.map(async (program) => [program, await findProgram(program)] as const);
  return Object.fromEntries(await Promise.all(paths)) as ProgramPaths;
};
