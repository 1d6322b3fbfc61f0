/** Commands for the running platform: `pnpm run restart NAME`, `logs NAME`, `psql NAME`, `debug NAME`. */
import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '@platform/program';
import { inheritedEnv } from './env.ts';
import { ROOT } from './options.ts';
import { until } from './process.ts';
import { installHint } from './system-programs.ts';
import { print } from './print.ts';
import { respondsOk, inspectorAddress } from './service-process.ts';
import { readStack, type Stack } from './local-folder.ts';

const usage = `Commands for the platform that "start" or "dev" runs:
  run restart NAME          restarts a service and waits until it is ready
  logs NAME [--follow]      prints the log of a service, gateway, postgres or redis
  psql NAME [SQL]           opens the database of a service, or runs one statement
  debug NAME                opens the port of a service for a debugger`;

const RESTART_LIMIT_MS = 30_000;
const INSPECTOR_LIMIT_MS = 30_000;

/** Arguments of a command. */
interface Arguments {
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
  throw new Error(`${name} exited and is restarting; see: npx -y pnpm@10.34.9 logs ${name}`);
};

const restart = async ({ name, local }: Arguments): Promise<void> => {
  const before = pidIn(await runningStack(local), name);
  // `start` keeps the services running: it starts a new process when this one ends.
  process.kill(before, 'SIGINT');
  const isReady = async (): Promise<boolean> => {
    const { pid, url } = serviceIn(await runningStack(local), name);
    return pid !== null && pid !== before && respondsOk(`${url}/readyz`);
  };
  if (!(await until(isReady, RESTART_LIMIT_MS)))
    throw new Error(`${name} is not ready; see: npx -y pnpm@10.34.9 logs ${name}`);
  print(`${name} is ready again`);
};

/** Runs a program in this terminal with additional variables, and exits with its exit code. */
const runInTerminal = (
  file: string,
  args: readonly string[],
  errorMessage: string,
  variables: Record<string, string> = {},
): void => {
  const { status, error } = spawnSync(file, args, { stdio: 'inherit', env: inheritedEnv(variables) });
  if (error) throw new Error(errorMessage, { cause: error });
  process.exitCode = status ?? 1;
};

const logs = async ({ name, local, lines, follow }: Arguments): Promise<void> => {
  const folder = join(local, 'logs');
  // If there is no folder there are no logs; the error below reports that.
  const paths = await readdir(folder, { recursive: true }).catch(() => []);
  const logPaths = paths.filter((path) => path.endsWith('.log')).toSorted();
  // The gateway has a folder with several logs.
  const matchingPaths = logPaths.filter((path) => path === `${name}.log` || dirname(path) === name);
  if (matchingPaths.length === 0) {
    const names = logPaths.map((path) => (path.includes(sep) ? dirname(path) : basename(path, '.log')));
    throw new Error(`there is no log "${name}"; the logs are ${[...new Set(names)].join(', ')}`);
  }
  const files = matchingPaths.map((path) => join(folder, path));
  // Ctrl-C ends tail and reaches this process as well.
  process.on('SIGINT', () => {});
  runInTerminal('tail', ['-n', lines, ...(follow ? ['-F'] : []), ...files], 'tail is missing');
};

const psql = async ({ name, statement, local }: Arguments): Promise<void> => {
  const url = new URL(serviceIn(await runningStack(local), name).databaseUrl);
  // Every user of this machine can see the arguments of a process.
  const password = decodeURIComponent(url.password);
  url.password = '';
  runInTerminal(
    'psql',
    [url.href, ...(statement === undefined ? [] : ['-c', statement])],
    `psql is missing. ${installHint('psql')}`,
    password === '' ? {} : { PGPASSWORD: password },
  );
};

const debug = async ({ name, local }: Arguments): Promise<void> => {
  const stack = await runningStack(local);
  // Node.js opens its inspector on this signal.
  process.kill(pidIn(stack, name), 'SIGUSR1');
  const address = inspectorAddress(serviceIn(stack, name).url);
  const isOpen = (): Promise<boolean> => respondsOk(`http://${address}/json/version`);
  if (!(await until(isOpen, INSPECTOR_LIMIT_MS)))
    throw new Error(`${name} did not open ${address}; see: npx -y pnpm@10.34.9 logs ${name}`);
  print(`Attach a debugger to ${address}: "Attach to a service" in VS Code, or chrome://inspect.`);
  print(
    `Every user of this machine can run code in ${name} through this port. It closes with: npx -y pnpm@10.34.9 run restart ${name}`,
  );
};

const commands: Record<string, (call: Arguments) => Promise<void>> = { restart, logs, psql, debug };

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
  const runCommand = commands[command];
  if (!runCommand || name === '')
    throw new UsageError(`${command || 'The command'} needs the NAME of a service`);
  await runCommand({ ...values, name, statement });
});
