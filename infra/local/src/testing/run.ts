import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '@platform/program';
import { inCi, inheritedEnv, mayInstall } from '../env.ts';
import { providePrograms } from '../install.ts';
import { installHint, programs, type Program } from '../system-programs.ts';
import { ROOT } from '../options.ts';
import { print } from '../print.ts';

/** The tests that are skipped if the program is missing. */
const DEPENDENT_TESTS: Record<Program, string> = {
  'redis-server': 'tests that need Redis',
  nginx: 'the gateway',
  chromium: 'the pages in a browser',
  promtool: 'the alerts',
  python3: 'receivers of webhooks in Python',
  php: 'receivers of webhooks in PHP',
  zsh: 'the commands of the guides in zsh',
};

/** Vitest ignores an unknown project together with a known one, and the run would pass without its tests. */
const rejectUnknownProjects = (args: string[]): void => {
  const options = { project: { type: 'string', multiple: true } } as const;
  const { project = [] } = parseArgs({ args, options, strict: false }).values;
  const folders = ['packages', 'services', 'infra', 'infra/tools'];
  const names = folders
    .flatMap((folder) => readdirSync(join(ROOT, folder)))
    .filter((name) => name !== 'tools');
  // Patterns such as `wallet*` or `!portal` are not checked; Vitest resolves them.
  const unknown = [project]
    .flat()
    .map(String)
    .filter((name) => /^[\w-]+$/.test(name) && !names.includes(name));
  if (unknown.length > 0)
    throw new UsageError(
      `There is no project ${unknown.join(', ')}; the projects are ${names.toSorted().join(', ')}`,
    );
};

const vitest = (args: string[]): Promise<number> => {
  const file = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const child = spawn(process.execPath, [file, 'run', ...args], {
    cwd: ROOT,
    // Compiling modules takes half of the start time of workers and of the programs that tests start.
    env: inheritedEnv({ NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/test') }),
    stdio: 'inherit',
  });
  // Ignored here: Ctrl-C also reaches vitest, and this process must print the summary afterwards.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
};

const usage = `test [--project NAME] [--changed [COMMIT]] [FILE …]: runs the tests of all packages, or of the named ones
  --project NAME  the tests of one folder in services, packages or infra
  --changed       the tests that import a file that changed since COMMIT (the last one)
As root on Debian, missing programs are installed. All other options are passed to Vitest.`;

await runProgram(usage, async (args) => {
  rejectUnknownProjects(args);
  const programPaths = await providePrograms(programs, mayInstall());
  const code = await vitest(args);

  const missing = programs.filter((program) => !programPaths[program]);
  for (const program of missing) {
    print(`Skipped: ${DEPENDENT_TESTS[program]}, because ${program} is missing. ${installHint(program)}`);
  }
  if (missing.length > 0 && inCi()) print('CI=true: skipping tests is a failure.');
  return code || (missing.length > 0 && inCi() ? 1 : 0);
});
