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

/** The port on which a server listens. */
export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A server on the port that keeps no process running; undefined when the port is taken. */
const listen = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer().unref();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });

const BLOCK = 50;

/**
 * As in infra/local/src/testing/free-ports.ts, which uses this package: the process that listens on the first port of a block owns its
 * other ports.
 */
const reserveBlock = async (): Promise<number> => {
  for (;;) {
    const first = 8_200 + BLOCK * randomInt(76);
    if (await listen(first)) return first;
  }
};

let block: Promise<number> | undefined;
let given = 0;

/**
 * A port that was free a moment ago. It is lower than the ports of outgoing connections (32768 and above on Linux), which
 * could take it before it is used.
 */
export const freePort = async (): Promise<number> => {
  const first = await (block ??= reserveBlock());
  for (;;) {
    const port = first + 1 + (given++ % (BLOCK - 1));
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
  /** Everything that was logged, by file name, once the log of the last request is written. */
  logs: () => Promise<Record<string, string>>;
  /** The access log entry of a request; waits until it is there. */
  entry: (requestId: string) => Promise<Entry>;
  /** Ends nginx in the same way as a supervisor does: by its own id, then whatever is left of its group. */
  stop: (signal?: NodeJS.Signals) => Promise<void>;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** As infra/local, which uses this package, declares it. */
    nginxPath: string | null;
  }
}

/** Path of the nginx of this machine, for a test. */
export const nginxPath = (): string => inject('nginxPath') ?? '';

const LIMIT_MS = 120_000;

/** Waits until there is a value. */
export const until = async <T>(look: () => Promise<T | undefined>, what: string): Promise<T> => {
  const end = Date.now() + LIMIT_MS;
  while (Date.now() < end) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(10);
  }
  throw new Error(`waited in vain for ${what}`);
};

const readAll = async (folder: string): Promise<Record<string, string>> => {
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
};

const endGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left of it.
  }
};

/**
 * Ends the group of a process, and removes a folder, when this process ends before `forget` was called, even by kill -9:
 * then the pipe to the shell closes.
 */
const endAfterExit = (pid: number, folder: string): { forget(): void } => {
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

/** Starts nginx with a folder and a port of its own; it is gone, and its folder too, when disposed of. */
export const startGateway = async (
  { account, nginx = nginxPath(), ...options }: Launch = {},
  at?: number,
): Promise<Gateway> => {
  const home = await mkdtemp(join(tmpdir(), 'gateway-'));
  // Workers that are not root must be able to get at what is theirs.
  await chmod(home, account ? 0o777 : 0o711);
  const port = at ?? (await freePort());
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
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk));
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const alive = async () => {
    if (child.exitCode !== null)
      throw new Error(`nginx ended: ${said}${JSON.stringify(await readAll(logDir))}\n${config}`);
    return (
      (await fetch(`${url}/healthz`).then(
        (answer) => answer.ok,
        () => false,
      )) || undefined
    );
  };
  const pid = child.pid ?? 0;
  const watch = endAfterExit(pid, home);
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    endGroup(pid);
    watch.forget();
  };
  await until(alive, 'the gateway');
  return {
    url,
    port,
    pid,
    runDir,
    logs: async () => {
      await fetch(`${url}/last`, { headers: { 'X-Request-Id': 'last' } });
      return until(async () => {
        const texts = await readAll(logDir);
        return texts['access.log']?.includes('"requestId":"last"') ? texts : undefined;
      }, 'the log');
    },
    entry: (requestId) =>
      until(async () => {
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

/** Limits the connections of nginx, and waits until its new worker runs. */
export const limitConnections = async ({ pid, runDir }: Gateway, count: number): Promise<void> => {
  const workers = async () => (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim();
  const before = await workers();
  const file = join(runDir, 'conf/nginx.conf');
  const config = await readFile(file, 'utf8');
  await writeFile(file, config.replace('worker_connections 16384;', `worker_connections ${count};`));
  process.kill(pid, 'SIGHUP');
  await until(async () => {
    const now = await workers();
    return /^\d+$/.test(now) && now !== before ? now : undefined;
  }, 'the new worker');
};
