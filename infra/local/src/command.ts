import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Account } from './run.ts';
import { identify, killGroup, type ProcessId } from './process-table.ts';
import { watch } from './watch.ts';

/** How a program that stays is started and stopped. */
export interface Command {
  file: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment of the program; nothing of ours comes along. */
  env: Record<string, string>;
  account?: Account | undefined;
  /** The signal on which it ends in good order. */
  stopSignal: NodeJS.Signals;
  /** Both output streams are appended here. */
  logFile: string;
}

/** A started program. */
export interface Launched {
  id: ProcessId;
  child: ChildProcess;
  /** How it ended, in words. Never rejects. */
  ended: Promise<string>;
}

/**
 * Starts a program in a process group of its own, so that Ctrl-C reaches only us, watched by the reaper.
 * @throws when it cannot be started at all
 */
export const launch = async (command: Command): Promise<Launched> => {
  const log = openSync(command.logFile, 'a', 0o600);
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: command.env,
    detached: true,
    stdio: ['ignore', log, log],
    ...command.account,
  });
  closeSync(log);
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const id = identify(child.pid ?? 0);
  watch({ watch: { ...id, stopSignal: command.stopSignal } });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, name) => {
      killGroup(id);
      watch({ forget: id.pid });
      resolve(name ? `ended by ${name}` : `ended with code ${code}`);
    });
  });
  return { id, child, ended };
};
