import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { baseEnv } from '../env.ts';
import { ROOT } from '../options.ts';
import { until } from '../process.ts';
import { freePortBase } from './free-ports.ts';

/** A script of the repository in a process of its own. Disposal sends SIGTERM, after 40 s SIGKILL. */
export interface StartedScript extends AsyncDisposable {
  pid: number;
  /** All that it has printed. */
  printed: () => string;
  signal: (name: NodeJS.Signals) => void;
  /** How it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** A process of `start`, with a folder and ports of its own. */
export interface StartedPlatform extends StartedScript {
  /** @throws with what it has printed when it ends before everything is ready */
  ready: () => Promise<void>;
}

interface PlatformOptions {
  /** Its folder, in place of `.local`. Root's PostgreSQL runs as another user, who must be able to enter it. */
  local: string;
  /** Root of the repository, if it is a copy. */
  root?: string;
  /** Further arguments of `start`. */
  args?: readonly string[];
  /** Settings beyond those that every process gets. */
  env: Record<string, string>;
  /** Called with each part of its output. */
  onOutput?: (text: Buffer) => void;
}

/** Only what hangs takes longer. */
const READY_MS = 900_000;
const STOP_MS = 40_000;

/** Ports of their own for one platform, whose services have so many cells. Those from 80 to 89 and from 91 to 99 above PORT_BASE are free for stand-ins. */
export const platformPorts = async (cells = 0): Promise<{ GATEWAY_PORT: string; PORT_BASE: string }> => {
  const base = await freePortBase(cells);
  return { GATEWAY_PORT: String(base + 90), PORT_BASE: String(base) };
};

interface ScriptOptions extends Pick<PlatformOptions, 'root' | 'onOutput'> {
  /** Settings beyond those that every process gets. */
  env?: Record<string, string>;
}

/** Runs a script, by its path from the root, with the current Node.js. */
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
  // Not 'exit', after which output may still arrive.
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
  let isOver = false;
  void script.ended.then(() => (isOver = true));
  const isReady = (): boolean => script.printed().includes('everything is ready');
  return {
    ...script,
    ready: async () => {
      await until(() => isOver || isReady(), READY_MS);
      if (!isReady()) throw new Error(`the platform did not start:\n${script.printed()}`);
    },
  };
};
