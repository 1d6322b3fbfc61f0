import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { killAfterExit } from '@platform/local/kill-after-exit';
import { freePort } from '@platform/local/ports';

interface ProcessOptions {
  /** Folder of the service. */
  folder: string;
  /**
   * All settings but PORT; nothing is inherited. DRAIN_MS is 0 unless given. No other test gets the port while the process is
   * down: requests to it then fail, and are not answered by a server of another test.
   */
  variables: Record<string, string>;
  /** `src/main.ts` unless said otherwise. */
  script?: string;
  /** Arguments of Node.js before the script. */
  nodeArguments?: readonly string[];
}

/** The memory of a container, and the options of Node.js in its image (infra/deploy). */
export const container = {
  bytes: 512 * 2 ** 20,
  nodeArguments: [
    '--max-semi-space-size=32',
    '--v8-pool-size=1',
    '--max-old-space-size=287',
    '--expose-gc',
  ] as const,
};

/** A service that runs as a process of its own, as in production. */
export interface ServiceProcess extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Of its second listener; 0 without PROBE_PORT. */
  readonly probePort: number;
  readonly pid: number;
  /** What it has written to standard output: its log, one JSON object a line. */
  lines: string[];
  /** What it has written to standard error. */
  errors: string[];
  /** The most memory that it had, in bytes. */
  peakBytes(): Promise<number>;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or null after a signal that ended it. */
  exited(): Promise<number | null>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL, as a crash would end it; also on disposal. */
  kill(): Promise<void>;
  /** Starts it again after it has ended, on the same port. */
  start(): Promise<void>;
}

/** Kept from one process to the next, since compiling the modules takes a third of a start. */
const compileCache = new URL('../../../../node_modules/.cache/test-processes', import.meta.url).pathname;

/** Starts a service as a process and waits until it listens. Rejects with its output when it ends before. */
export const startServiceProcess = async (options: ProcessOptions): Promise<ServiceProcess> => {
  const { folder, variables, script = 'src/main.ts', nodeArguments = [] } = options;
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    DRAIN_MS: '0',
    NODE_COMPILE_CACHE: compileCache,
    ...variables,
    PORT: String(await freePort()),
  };
  const lines: string[] = [];
  const errors: string[] = [];
  let child: ChildProcess;
  let exit: Promise<[number | null]>;
  let [port, probePort] = [0, 0];

  const start = async (): Promise<void> => {
    const started = spawn(process.execPath, [...nodeArguments, script], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.stderr.on('data', (text: Buffer) => {
      errors.push(String(text));
      process.stderr.write(text);
    });
    child = started;
    // A test that fails before it disposes of the process must not leave it behind.
    killAfterExit(started);
    exit = once(started, 'exit') as Promise<[number | null]>;
    port = await new Promise<number>((resolve, reject) => {
      createInterface({ input: started.stdout }).on('line', (line) => {
        lines.push(line);
        if (!line.includes('"msg":"listening"')) return;
        const listening = JSON.parse(line) as { port: number; probePort?: number };
        probePort = listening.probePort ?? 0;
        resolve(listening.port);
      });
      started.once('exit', (code) =>
        reject(new Error(`${folder} ended with ${code} before it listened: ${lines.join('\n')}`)),
      );
    });
  };
  const exited = async (): Promise<number | null> => (await exit)[0];
  const signal = (name: NodeJS.Signals): void => void child.kill(name);
  const end = (name: NodeJS.Signals): Promise<number | null> => {
    signal(name);
    return exited();
  };
  const kill = async (): Promise<void> => void (await end('SIGKILL'));
  await start();
  return {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    get port() {
      return port;
    },
    get probePort() {
      return probePort;
    },
    get pid() {
      return child.pid ?? 0;
    },
    lines,
    errors,
    peakBytes: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
    },
    signal,
    exited,
    stop: () => end('SIGTERM'),
    kill,
    start,
    [Symbol.asyncDispose]: kill,
  };
};
