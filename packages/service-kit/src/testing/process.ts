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
   * All settings except PORT; no environment variable is inherited. Default of DRAIN_MS: 0. The port stays reserved while the
   * process is stopped, so that requests fail and are not answered by a server of another test.
   */
  variables: Record<string, string>;
  /** Default: `src/main.ts`. */
  script?: string;
  /** Arguments of Node.js before the script. */
  nodeArguments?: readonly string[];
}

/** The memory of a production container, and the Node.js options of its image (infra/deploy). */
export const container = {
  bytes: 512 * 2 ** 20,
  nodeArguments: [
    '--max-semi-space-size=32',
    '--v8-pool-size=1',
    '--max-old-space-size=287',
    '--expose-gc',
  ] as const,
};

/** A service that runs in a separate process, as in production. */
export interface ServiceProcess extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Port of its second listener; 0 without PROBE_PORT. */
  readonly probePort: number;
  readonly pid: number;
  /** Its standard output: the log, one JSON object a line. */
  lines: string[];
  /** Its standard error. */
  errors: string[];
  /** Its peak memory, in bytes. */
  peakBytes(): Promise<number>;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or null if a signal ended it. */
  exited(): Promise<number | null>;
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL, to simulate a crash. Also called on disposal. */
  kill(): Promise<void>;
  /** Starts it again on the same port after it has ended. */
  start(): Promise<void>;
}

/** Shared by all processes, because compiling the modules takes a third of the start time. */
const compileCache = new URL('../../../../node_modules/.cache/test-processes', import.meta.url).pathname;

/** Starts a service as a process and waits until it listens. Rejects with its output if it ends before that. */
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
    // The process must not survive a test that fails before disposal.
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
