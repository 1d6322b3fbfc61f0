import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUpAfterExit } from './cleanup.ts';
import { openLogFile } from './log-file.ts';
import { identify, killGroup, type ProcessId } from './process.ts';

/** The user that a program runs as; PostgreSQL refuses to run as root. */
export interface Account {
  uid: number;
  gid: number;
}

/** How to start and stop a program that keeps running. */
export interface Command {
  file: string;
  args: readonly string[];
  cwd: string;
  /** The complete environment of the program; it inherits nothing. */
  env: Record<string, string>;
  account?: Account | undefined;
  /** The signal that shuts it down. */
  stopSignal: NodeJS.Signals;
  /** Log file for both output streams. */
  logFile: string;
}

/** A started program. */
export interface Launched {
  id: ProcessId;
  /** Resolves with the reason when the process ends, such as "exited with code 1". Never rejects. */
  ended: Promise<string>;
}

const OUTPUT_LIMIT_MS = 1_000;

/**
 * Starts a program in its own process group, so that Ctrl-C reaches only this process. The program is stopped when this
 * process ends for any reason.
 * @throws if the program cannot be started
 */
export const launch = async (command: Command): Promise<Launched> => {
  const log = openLogFile(command.logFile);
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: command.env,
    detached: true,
    // Pipes, not the log file itself: the program would go on writing to a file that was rotated.
    stdio: ['ignore', 'pipe', 'pipe'],
    ...command.account,
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', log.write);
  const outputEnded = once(child, 'close').then(log.close, log.close);
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const id = identify(child.pid ?? 0);
  cleanUpAfterExit({ process: { ...id, stopSignal: command.stopSignal } });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, name) => {
      killGroup(id);
      cleanUpAfterExit({ endedPid: id.pid });
      // Child processes that outlive the program, such as PostgreSQL's after kill -9, hold its output open.
      void Promise.race([outputEnded, sleep(OUTPUT_LIMIT_MS, undefined, { ref: false })]).then(() =>
        resolve(name ? `was ended by ${name}` : `exited with code ${code}`),
      );
    });
  });
  return { id, ended };
};

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  account?: Account | undefined;
  /** Aborts the program. With a signal the program has its own process group and is stopped when this process ends. */
  signal?: AbortSignal;
}

export interface RunResult {
  /** The exit code; null if the program did not start or a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
  /** Both streams in the order in which they arrived. */
  output: string;
}

const collectOutput = (child: ChildProcess, result: RunResult): void => {
  child.stdout?.on('data', (chunk: Buffer) => {
    result.stdout += chunk;
    result.output += chunk;
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    result.stderr += chunk;
    result.output += chunk;
  });
};

/** Runs a program until it exits, without a shell. Never throws: the code is null if the program cannot be started. */
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
    if (signal && child.pid) cleanUpAfterExit({ process: { ...identify(child.pid), stopSignal: 'SIGTERM' } });
    const result: RunResult = { code: null, stdout: '', stderr: '', output: '' };
    collectOutput(child, result);
    child.on('error', (error) =>
      resolve({ ...result, stderr: error.message, output: result.output + error.message }),
    );
    child.on('close', (code) => {
      if (signal && child.pid) cleanUpAfterExit({ endedPid: child.pid });
      resolve({ ...result, code });
    });
  });

/** The last lines of a text. */
export const lastLines = (text: string, count = 20): string =>
  text.trimEnd().split('\n').slice(-count).join('\n');

/** The last lines of a text without stack frames, so that the error message is among them. */
export const withoutFrames = (text: string): string => lastLines(text.replaceAll(/^ +at .*\n/gm, ''), 40);

/** The last lines of a log file. */
export const endOfLog = async (logFile: string): Promise<string> =>
  lastLines(await readFile(logFile, 'utf8').catch(() => '(the log is missing)'));
