/** `pnpm test`: installs missing programs, runs all tests and reports what was skipped. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { inCi, inheritedEnv, mayInstall } from './env.ts';
import { providePrograms } from './install.ts';
import { ROOT } from './options.ts';
import { howToGet, type Program } from './programs.ts';
import { say } from './say.ts';

/** What cannot be tested without the program. */
const NEEDED: Record<Program, string> = {
  'redis-server': 'everything that needs Redis',
  nginx: 'the gateway',
  chromium: 'the pages in a browser',
};

const vitest = (args: string[]): Promise<number> => {
  const file = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  // Test files of a project share the modules of their worker: loading them for each file takes a third of the time.
  // Tests wait for processes and databases most of their time, so one worker a core leaves the cores idle. Given here,
  // because the projects do not take it from the root's configuration.
  const workers = `--maxWorkers=${2 * availableParallelism()}`;
  const child = spawn(process.execPath, [file, 'run', '--no-isolate', workers, ...args], {
    cwd: ROOT,
    // Compiling their modules takes half of the start of a worker, and of the programs that tests start.
    env: inheritedEnv({ NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/test') }),
    stdio: 'inherit',
  });
  // Ctrl-C reaches vitest by itself; this process stays for the summary.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
};

const programs = Object.keys(NEEDED) as Program[];
const found = await providePrograms(programs, mayInstall());
const code = await vitest(process.argv.slice(2).filter((arg) => arg !== '--'));

const missing = programs.filter((program) => !found[program]);
for (const program of missing) {
  say(`Skipped: ${NEEDED[program]}, because ${program} is missing. ${howToGet(program)}`);
}
if (missing.length > 0 && inCi()) say('CI=true: skipping tests is a failure.');
process.exitCode = code || (missing.length > 0 && inCi() ? 1 : 0);
