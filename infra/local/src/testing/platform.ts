import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { baseEnv } from '../env.ts';
import { ROOT } from '../options.ts';
import { until } from '../process.ts';
import { freePortBase } from './free-ports.ts';

/** A script of the repository that runs in a child process. Disposal sends SIGTERM, and SIGKILL after 40 s. */
export interface StartedScript extends AsyncDisposable {
  pid: number;
  /** Its output until now. */
  printed: () => string;
  signal: (name: NodeJS.Signals) => void;
  /** Resolves when the process ends. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** A process of `start` with a separate folder and separate ports. */
export interface StartedPlatform extends StartedScript {
  /** @throws with its output if it ends before everything is ready */
  ready: () => Promise<void>;
}

interface PlatformOptions {
  /** Its folder, instead of `.local`. If root starts PostgreSQL it runs as another user, who must be able to enter the folder. */
  local: string;
  /** Root of the repository; default: this repository. */
  root?: string;
  /** Further arguments of `start`. */
  args?: readonly string[];
  /** Settings in addition to those of every process. */
  env: Record<string, string>;
  /** Called with each chunk of its output. */
  onOutput?: (text: Buffer) => void;
}

/** Long enough for slow machines: only a process that hangs reaches it. */
const READY_MS = 900_000;
const STOP_MS = 40_000;

/** Returns free ports for one platform whose services have `cells` cells. PORT_BASE + 80 to 89 and + 91 to 99 are for stand-ins. */
export const platformPorts = async (cells = 0): Promise<{ GATEWAY_PORT: string; PORT_BASE: string }> => {
  const base = await freePortBase(cells);
  return { GATEWAY_PORT: String(base + 90), PORT_BASE: String(base) };
};

interface ScriptOptions extends Pick<PlatformOptions, 'root' | 'onOutput'> {
  /** Settings in addition to those of every process. */
  env?: Record<string, string>;
}

/** Starts a script with the current Node.js. @param script its path from the root of the repository */
export const startScript = (
  script: string,
  args: readonly string[],
  { root = ROOT, env = {}, onOutput }: ScriptOptions = {},
): StartedScript => {
  const child = spawn(process.execPath, [join(root, script), ...args], {
    cwd: root,
    env: { ...baseEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk;
      onOutput?.(chunk);
    });
  // Not 'exit', because output may still arrive after it.
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  return {
    pid: child.pid ?? 0,
    printed: () => text,
    signal: (name) => void child.kill(name),
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(force);
    },
  };
};

/** Runs `start`. Disposal stops it. */
export const startPlatform = ({ local, args = [], ...options }: PlatformOptions): StartedPlatform => {
  const script = startScript('infra/local/src/start.ts', ['--local', local, ...args], options);
  let hasEnded = false;
  void script.ended.then(() => (hasEnded = true));
  const isReady = (): boolean => script.printed().includes('everything is ready');
  return {
    ...script,
    ready: async () => {
      await until(() => hasEnded || isReady(), READY_MS);
      if (!isReady()) throw new Error(`the platform did not start:\n${script.printed()}`);
    },
  };
};
