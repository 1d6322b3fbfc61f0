import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { baseEnv } from '../env.ts';
import { ROOT } from '../options.ts';
import { until } from '../process.ts';
import { freePortBase } from './free-ports.ts';

/** A process of `start`, with a folder and ports of its own. */
export interface StartedPlatform extends AsyncDisposable {
  pid: number;
  /** All that it has printed. */
  printed: () => string;
  /** @throws with what it has printed when it ends before everything is ready */
  ready: () => Promise<void>;
  signal: (name: NodeJS.Signals) => void;
  /** How it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
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

/** Runs `start`. Disposal stops it. */
export const startPlatform = ({
  local,
  root = ROOT,
  args = [],
  env,
  onOutput,
}: PlatformOptions): StartedPlatform => {
  const script = join(root, 'infra/local/src/start.ts');
  const child = spawn(process.execPath, [script, '--local', local, ...args], {
    env: { ...baseEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk;
      onOutput?.(chunk);
    });
  let isOver = false;
  // Not 'exit', after which output may still arrive.
  const ended = once(child, 'close').then(([code, signal]) => {
    isOver = true;
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  const isReady = (): boolean => text.includes('everything is ready');
  return {
    pid: child.pid ?? 0,
    printed: () => text,
    ready: async () => {
      await until(() => isOver || isReady(), READY_MS);
      if (!isReady()) throw new Error(`the platform did not start:\n${text}`);
    },
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
