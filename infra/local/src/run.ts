import { spawn } from 'node:child_process';
import { identify } from './process-table.ts';
import { watch } from './watch.ts';

/** The user as whom a program runs; PostgreSQL refuses to run as root. */
export interface Account {
  uid: number;
  gid: number;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  account?: Account | undefined;
  /** Ends the program early. With it the program gets a process group of its own and does not outlive us. */
  signal?: AbortSignal;
}

export interface RunResult {
  /** The exit code; null when the program could not be started or died of a signal. */
  code: number | null;
  stdout: string;
  /** Both streams in the order in which they came. */
  output: string;
}

/** Runs a program to its end without a shell. Never throws: a program that cannot start gives code null. */
export const run = (
  file: string,
  args: readonly string[],
  { cwd = '/', env, account, signal }: RunOptions = {},
): Promise<RunResult> =>
  new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(env && { env }),
      ...(signal && { signal, detached: true }),
      ...account,
    });
    if (signal && child.pid) watch({ watch: { ...identify(child.pid), stopSignal: 'SIGTERM' } });
    let stdout = '';
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk;
      output += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => (output += chunk));
    child.on('error', (error) => resolve({ code: null, stdout, output: output + error.message }));
    child.on('close', (code) => {
      if (signal && child.pid) watch({ forget: child.pid });
      resolve({ code, stdout, output });
    });
  });
