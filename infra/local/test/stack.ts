import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi, expect } from 'vitest';
import { baseEnv } from '../src/env.ts';
import { freePortBase } from '../src/testing/free-ports.ts';
import type { Stack } from '../src/stack-file.ts';

/** A `start` of its own, over the two small services of the fixtures. */
export interface StackRun {
  local: string;
  pid: number;
  /** All that it has printed. */
  printed: () => string;
  /** stack.json as it stands. */
  stack: () => Promise<Stack>;
  ready: () => Promise<void>;
  signal: (name: NodeJS.Signals) => void;
  /** How it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** A folder that everybody may enter, as a checkout usually is. */
export const newLocalFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'stack-'));
  await chmod(folder, 0o755);
  return folder;
};
export const removeFolder = (path: string): Promise<void> => rm(path, { recursive: true, force: true });

/** Ports of their own for one stack. */
export const newPorts = async (): Promise<Record<string, string>> => {
  const base = await freePortBase();
  return { GATEWAY_PORT: String(base + 90), PORT_BASE: String(base) };
};

/** Only a start that hangs takes longer. */
const READY_MS = 240_000;

export const fixtures = join(import.meta.dirname, 'fixtures/services');

export const startStack = (local: string, env: Record<string, string>, ...args: string[]): StackRun => {
  const script = join(import.meta.dirname, '../src/start.ts');
  const child = spawn(process.execPath, [script, '--local', local, '--services', fixtures, ...args], {
    env: { ...baseEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk));
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    // Not 'exit', after which output may still arrive.
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  let over = false;
  void ended.then(() => (over = true));
  return {
    local,
    pid: child.pid ?? 0,
    printed: () => text,
    stack: async () => JSON.parse(await readFile(join(local, 'stack.json'), 'utf8')) as Stack,
    ready: async () => {
      await vi.waitUntil(() => over || text.includes('everything is ready'), READY_MS);
      expect(text).toContain('everything is ready');
    },
    signal: (name) => void child.kill(name),
    ended,
  };
};
