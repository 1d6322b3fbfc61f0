import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { prepareGateway } from '../src/config.ts';
import type { GatewayOptions } from '../src/options.ts';

/** Returns the port on which a server listens. */
export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Starts a server on the port, which does not keep the process running; undefined if the port is taken. */
const listen = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer().unref();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });

const BLOCK_SIZE = 50;

/**
 * Reserves a block of ports like infra/local/src/testing/free-ports.ts (which imports this package): a process owns a block
 * while it listens on its first port.
 */
const reserveBlock = async (): Promise<number> => {
  for (;;) {
    const first = 8_200 + BLOCK_SIZE * randomInt(76);
    if (await listen(first)) return first;
  }
};

let block: Promise<number> | undefined;
let portsReturned = 0;

/**
 * Returns a free port. It is below the ports of outgoing connections (32768 and above on Linux), which could take it before
 * it is used.
 */
export const freePort = async (): Promise<number> => {
  const first = await (block ??= reserveBlock());
  for (;;) {
    const port = first + 1 + (portsReturned++ % (BLOCK_SIZE - 1));
    const server = await listen(port);
    if (server === undefined) continue;
    await new Promise((closed) => server.close(closed));
    return port;
  }
};

/** A line of the access log. */
export type Entry = Record<string, string | number>;

/** A running nginx. */
export interface Gateway extends AsyncDisposable {
  url: string;
  port: number;
  pid: number;
  runDir: string;
  /** The content of all log files by name, after the entry of the last request is written. */
  logs: () => Promise<Record<string, string>>;
  /** Waits for the access log entry of a request. */
  entry: (requestId: string) => Promise<Entry>;
  /** Stops nginx like a supervisor: first the process, then the remaining processes of its group. */
  stop: (signal?: NodeJS.Signals) => Promise<void>;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Declared as in infra/local, which imports this package. */
    nginxPath: string | null;
  }
}

/** Returns the path of nginx on this machine. */
export const nginxPath = (): string => inject('nginxPath') ?? '';

const LIMIT_MS = 120_000;

/** Polls until there is a value. */
export const waitFor = async <T>(poll: () => Promise<T | undefined>, expected: string): Promise<T> => {
  const end = Date.now() + LIMIT_MS;
  while (Date.now() < end) {
    const value = await poll();
    if (value !== undefined) return value;
    await sleep(10);
  }
  throw new Error(`timed out waiting for ${expected}`);
};

const readAll = async (folder: string): Promise<Record<string, string>> => {
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
};

const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has no process left.
  }
};

/**
 * Kills the group of a process and removes a folder if this process ends before it calls `forget`, even by kill -9: the
 * shell notices that its pipe is closed.
 */
const killAfterExit = (pid: number, folder: string): { forget(): void } => {
  const script = `read _; kill -s KILL -- "-$0"; rm -rf -- "$1"`;
  const shell = spawn('sh', ['-c', script, String(pid), folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return { forget: () => void shell.kill('SIGKILL') };
};

interface Launch extends Partial<GatewayOptions> {
  account?: { uid: number; gid: number };
  /** Path of nginx. */
  nginx?: string;
}

/** Starts nginx with a separate folder and port. Disposal stops it and removes its folder. */
export const startGateway = async (
  { account, nginx = nginxPath(), ...options }: Launch = {},
  fixedPort?: number,
): Promise<Gateway> => {
  const home = await mkdtemp(join(tmpdir(), 'gateway-'));
  // Workers that do not run as root must be able to enter their folders.
  await chmod(home, account ? 0o777 : 0o711);
  const port = fixedPort ?? (await freePort());
  const runDir = join(home, 'run');
  const logDir = join(home, 'log');
  const { config, args } = await prepareGateway({
    listen: `127.0.0.1:${port}`,
    upstreams: {},
    runDir,
    logDir,
    ...options,
  });
  if (account) for (const folder of [runDir, logDir]) await chmod(folder, 0o777);
  const child = spawn(nginx, args, {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...account,
  });
  let errorOutput = '';
  child.stderr.on('data', (chunk: Buffer) => (errorOutput += chunk));
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const isAlive = async () => {
    if (child.exitCode !== null)
      throw new Error(`nginx ended: ${errorOutput}${JSON.stringify(await readAll(logDir))}\n${config}`);
    return (
      (await fetch(`${url}/healthz`).then(
        (answer) => answer.ok,
        () => false,
      )) || undefined
    );
  };
  const pid = child.pid ?? 0;
  const cleanup = killAfterExit(pid, home);
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    killGroup(pid);
    cleanup.forget();
  };
  await waitFor(isAlive, 'the gateway');
  return {
    url,
    port,
    pid,
    runDir,
    logs: async () => {
      await fetch(`${url}/last`, { headers: { 'X-Request-Id': 'last' } });
      return waitFor(async () => {
        const texts = await readAll(logDir);
        return texts['access.log']?.includes('"requestId":"last"') ? texts : undefined;
      }, 'the log');
    },
    entry: (requestId) =>
      waitFor(async () => {
        const lines = (await readFile(join(logDir, 'access.log'), 'utf8')).split('\n').filter(Boolean);
        return lines
          .map((line) => JSON.parse(line) as Entry)
          .find((entry) => entry['requestId'] === requestId);
      }, `the log of ${requestId}`),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(home, { recursive: true, force: true });
    },
  };
};

/** Limits the connections of nginx and waits until the new worker runs. */
export const limitConnections = async ({ pid, runDir }: Gateway, count: number): Promise<void> => {
  const workers = async () => (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim();
  const before = await workers();
  const file = join(runDir, 'conf/nginx.conf');
  const config = await readFile(file, 'utf8');
  await writeFile(file, config.replace('worker_connections 16384;', `worker_connections ${count};`));
  process.kill(pid, 'SIGHUP');
  await waitFor(async () => {
    const now = await workers();
    return /^\d+$/.test(now) && now !== before ? now : undefined;
  }, 'the new worker');
};
