/** Commands for the running platform: `pnpm run restart NAME`, `logs NAME`, `psql NAME`, `debug NAME`. */
import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '@platform/program';
import { inheritedEnv } from './env.ts';
import { ROOT } from './options.ts';
import { until } from './process.ts';
import { howToGet } from './programs.ts';
import { say } from './say.ts';
import { answersWell, inspectorOf } from './service-process.ts';
import { readStack, type Stack } from './local-folder.ts';

const usage = `Commands for the platform that "start" or "dev" runs:
  run restart NAME          restarts a service and waits until it is ready
  logs NAME [--follow]      prints the log of a service, gateway, postgres or redis
  psql NAME [SQL]           opens the database of a service, or runs one statement
  debug NAME                opens the port of a service for a debugger`;

const RESTART_LIMIT_MS = 30_000;
const INSPECTOR_LIMIT_MS = 30_000;

/** What a command is called with. */
interface Call {
  name: string;
  statement: string | undefined;
  follow: boolean;
  lines: string;
  /** Folder of the platform. */
  local: string;
}

const runningStack = async (local: string): Promise<Stack> => {
  const stack = await readStack(local);
  if (stack) return stack;
  throw new Error(`no platform runs in ${local}; start it with: npx -y pnpm@10.34.9 start`);
};

const serviceIn = ({ services }: Stack, name: string): Stack['services'][string] => {
  const service = services[name];
  if (service) return service;
  throw new Error(`there is no service "${name}"; the services are ${Object.keys(services).join(', ')}`);
};

const pidIn = (stack: Stack, name: string): number => {
  const { pid } = serviceIn(stack, name);
  if (pid !== null) return pid;
  throw new Error(`${name} is being started again after it ended; see: npx -y pnpm@10.34.9 logs ${name}`);
};

const restart = async ({ name, local }: Call): Promise<void> => {
  const before = pidIn(await runningStack(local), name);
  // `start` keeps the services running: it starts the next process when this one has ended.
  process.kill(before, 'SIGINT');
  const isReady = async (): Promise<boolean> => {
    const { pid, url } = serviceIn(await runningStack(local), name);
    return pid !== null && pid !== before && answersWell(`${url}/readyz`);
  };
  if (!(await until(isReady, RESTART_LIMIT_MS)))
    throw new Error(`${name} is not ready; see: npx -y pnpm@10.34.9 logs ${name}`);
  say(`${name} is ready again`);
};

/** Runs a program in this terminal, with its exit code and further variables. */
const runHere = (
  file: string,
  args: readonly string[],
  missing: string,
  variables: Record<string, string> = {},
): void => {
  const { status, error } = spawnSync(file, args, { stdio: 'inherit', env: inheritedEnv(variables) });
  if (error) throw new Error(missing, { cause: error });
  process.exitCode = status ?? 1;
};

const logs = async ({ name, local, lines, follow }: Call): Promise<void> => {
  const folder = join(local, 'logs');
  // Without the folder there are no logs, which the message below says.
  const paths = await readdir(folder, { recursive: true }).catch(() => []);
  const all = paths.filter((path) => path.endsWith('.log')).toSorted();
  // The gateway has a folder with several logs.
  const chosen = all.filter((path) => path === `${name}.log` || dirname(path) === name);
  if (chosen.length === 0) {
    const names = all.map((path) => (path.includes(sep) ? dirname(path) : basename(path, '.log')));
    throw new Error(`there is no log "${name}"; the logs are ${[...new Set(names)].join(', ')}`);
  }
  const files = chosen.map((path) => join(folder, path));
  // Ctrl-C ends tail and reaches this process as well.
  process.on('SIGINT', () => {});
  runHere('tail', ['-n', lines, ...(follow ? ['-F'] : []), ...files], 'tail is missing');
};

const psql = async ({ name, statement, local }: Call): Promise<void> => {
  const url = new URL(serviceIn(await runningStack(local), name).databaseUrl);
  // Every user of this machine can see the arguments of a process.
  const password = decodeURIComponent(url.password);
  url.password = '';
  runHere(
    'psql',
    [url.href, ...(statement === undefined ? [] : ['-c', statement])],
    `psql is missing. ${howToGet('psql')}`,
    password === '' ? {} : { PGPASSWORD: password },
  );
};

const debug = async ({ name, local }: Call): Promise<void> => {
  const stack = await runningStack(local);
  // Node.js opens its inspector on this signal.
  process.kill(pidIn(stack, name), 'SIGUSR1');
  const address = inspectorOf(serviceIn(stack, name).url);
  const isOpen = (): Promise<boolean> => answersWell(`http://${address}/json/version`);
  if (!(await until(isOpen, INSPECTOR_LIMIT_MS)))
    throw new Error(`${name} did not open ${address}; see: npx -y pnpm@10.34.9 logs ${name}`);
  say(`Attach a debugger to ${address}: "Attach to a service" in VS Code, or chrome://inspect.`);
  say(
    `Every user of this machine can run code in ${name} through this port. It closes with: npx -y pnpm@10.34.9 run restart ${name}`,
  );
};

const commands: Record<string, (call: Call) => Promise<void>> = { restart, logs, psql, debug };

await runProgram(usage, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      follow: { type: 'boolean', short: 'f', default: false },
      lines: { type: 'string', short: 'n', default: '50' },
      local: { type: 'string', default: join(ROOT, '.local') },
    },
  });
  const [command = '', name = '', statement] = positionals;
  const chosen = commands[command];
  if (!chosen || name === '') throw new UsageError(`${command || 'The command'} needs the NAME of a service`);
  await chosen({ ...values, name, statement });
});
