import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '@platform/program';
import { inCi, inheritedEnv, mayInstall } from '../env.ts';
import { providePrograms } from '../install.ts';
import { howToGet, programs, type Program } from '../programs.ts';
import { ROOT } from '../options.ts';
import { say } from '../say.ts';

/** What cannot be tested without the program. */
const NEEDED: Record<Program, string> = {
  'redis-server': 'everything that needs Redis',
  nginx: 'the gateway',
  chromium: 'the pages in a browser',
  promtool: 'the alerts',
  python3: 'receivers of webhooks in Python',
  php: 'receivers of webhooks in PHP',
  zsh: 'the commands of the guides in zsh',
};

/** Vitest ignores an unknown project beside a known one, whose tests would pass as if they were all. */
const rejectUnknownProjects = (args: string[]): void => {
  const options = { project: { type: 'string', multiple: true } } as const;
  const { project = [] } = parseArgs({ args, options, strict: false }).values;
  const folders = ['packages', 'services', 'infra', 'infra/tools'];
  const names = folders
    .flatMap((folder) => readdirSync(join(ROOT, folder)))
    .filter((name) => name !== 'tools');
  // A pattern such as `wallet*` or `!portal` is left to Vitest.
  const unknown = [project]
    .flat()
    .map(String)
    .filter((name) => /^[\w-]+$/.test(name) && !names.includes(name));
  if (unknown.length > 0)
    throw new UsageError(`There is no project ${unknown.join(', ')}, only ${names.toSorted().join(', ')}`);
};

const vitest = (args: string[]): Promise<number> => {
  const file = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const child = spawn(process.execPath, [file, 'run', ...args], {
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

const usage = `test [--project NAME] [--changed [COMMIT]] [FILE …]: runs the tests, of all packages or of those that are named
  --project NAME  the tests of one folder of services, packages or infra
  --changed       the tests that import a file which was changed since the COMMIT (the last one)
Programs that are missing are installed, on Debian as root. Other options are those of Vitest.`;

await runProgram(usage, async (args) => {
  rejectUnknownProjects(args);
  const found = await providePrograms(programs, mayInstall());
  const code = await vitest(args);

  const missing = programs.filter((program) => !found[program]);
  for (const program of missing) {
    say(`Skipped: ${NEEDED[program]}, because ${program} is missing. ${howToGet(program)}`);
  }
  if (missing.length > 0 && inCi()) say('CI=true: skipping tests is a failure.');
  return code || (missing.length > 0 && inCi() ? 1 : 0);
});
