/**
 * `pnpm check`: runs every check that is not a test, as many at a time as there are cores, and reports each. Outside of
 * CI, types and lint of files are checked again only when a change may affect them.
 */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isCI } from './env.ts';

const root = join(import.meta.dirname, '../../../..');
const services = readdirSync(join(root, 'services')).map((name) => `services/${name}`);
/** All but the first of each service, which creates everything. */
const laterMigrations = services.flatMap((service) =>
  readdirSync(join(root, service, 'migrations'))
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
    .slice(1)
    .map((file) => `${service}/migrations/${file}`),
);
const documents = services.map((service) => `${service}/openapi.json`);

/** Keeps what the compiler found for the next run, which reads again only what a change can affect. */
const incremental = (name: string): string[] => [
  '--incremental',
  '--tsBuildInfoFile',
  `node_modules/.cache/check/${name}.tsbuildinfo`,
];

/** Name, program and arguments; the slowest first. */
const checks: [string, ...string[]][] = [
  ['lint', 'node', 'infra/tools/checks/src/lint.ts', ...(isCI ? ['--all'] : [])],
  ['types', 'tsc', ...incremental('types')],
  ['types of the portal', 'tsc', '-p', 'infra/portal', ...incremental('types-of-the-portal')],
  ['unused code', 'knip'],
  ['boundaries', 'turbo', 'boundaries'],
  ...services.map((service): [string, ...string[]] => [
    `openapi.json of ${service}`,
    'node',
    `${service}/src/openapi.ts`,
  ]),
  ['openapi.json under Redocly', 'redocly', 'lint', ...documents],
  ['openapi.json under Spectral', 'node', 'infra/tools/checks/src/spectral.ts', ...documents],
  ['migrations', 'node', 'infra/tools/checks/src/migrations.ts', ...services],
  ['migrations under running services', 'node', 'infra/tools/checks/src/rollout.ts', ...laterMigrations],
  ['Helm chart', 'node', 'infra/deploy/src/check-chart.ts'],
  ['format', 'oxfmt', '--check'],
];

/** What to run when a check fails, where the tool itself does not name a command of this repository. */
const repairs: Record<string, string> = { format: 'Run: npx -y pnpm@10.34.9 format\n' };

const run = promisify(execFile);
const queue = checks.values();

const work = async (): Promise<void> => {
  for (const [name, program = '', ...args] of queue) {
    const started = performance.now();
    const ended = run(program, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
    const fault = await ended.then(
      () => undefined,
      ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}${repairs[name] ?? ''}`,
    );
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(
      `${fault === undefined ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n${fault ?? ''}`,
    );
    if (fault !== undefined) process.exitCode = 1;
  }
};

// An OpenAPI document may have changed since the client was generated at the installation.
await run('node', ['packages/client/scripts/generate.ts'], { cwd: root });
await Promise.all(Array.from({ length: availableParallelism() }, work));
