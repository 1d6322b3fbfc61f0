import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { baseEnv } from '@platform/local/env';
import { OPERATOR_ID, type Platform } from './stack.ts';

/** Root of the checkout. */
const ROOT = resolve(import.meta.dirname, '../../../..');

/** A script of the repository in its own process. */
export interface Program extends AsyncDisposable {
  /** Its output so far. */
  printed: () => string;
  /** Its exit code; null when a signal ended it. */
  ended: Promise<number | null>;
}

const STOP_LIMIT_MS = 40_000;

/** Runs `script`, a path from the root, with the current Node.js. Disposal sends SIGTERM, after 40 s SIGKILL. */
export const run = (script: string, args: readonly string[], env: Record<string, string> = {}): Program => {
  const child = spawn(process.execPath, [resolve(ROOT, script), ...args], {
    cwd: ROOT,
    env: { ...baseEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    printed: () => text,
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await ended;
      clearTimeout(force);
    },
  };
};

/** The stand-in game server of the wallet; it plays `rounds` rounds with each player who is launched. */
export const runGameServer = (
  { host, port }: Platform['gameServer'],
  operatorUrl: string,
  hmacSecret: string,
  rounds: number,
): Program =>
  run(
    'packages/wallet-conformance/src/main.ts',
    [
      'game-server',
      ...Object.entries({
        host,
        port,
        rounds,
        url: operatorUrl,
        'operator-id': OPERATOR_ID,
      }).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ],
    { HMAC_SECRET: hmacSecret },
  );
