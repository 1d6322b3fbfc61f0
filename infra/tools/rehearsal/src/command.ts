import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { waitFor as waitForAnything } from '@platform/e2e/wait';
import { environment } from './env.ts';

/** Root of the checkout. */
export const ROOT = resolve(import.meta.dirname, '../../../..');

const stopper = new AbortController();
/** Aborted by `stop`. */
export const stopping = stopper.signal;

/** The process groups of the programs that run. */
const groups = new Set<number>();

/** Ends the programs that run now. Those that disposal starts afterwards are not affected. */
export const stop = (reason: string): void => {
  if (stopping.aborted) return;
  stopper.abort(new Error(reason));
  for (const group of groups) {
    try {
      process.kill(-group, 'SIGTERM');
    } catch {
      // It has ended.
    }
  }
};

/**
 * Runs a program in the root of the checkout, with these variables set or (undefined) removed, and returns its standard
 * output.
 * @throws with the command and the end of what it printed, without tokens, when it fails
 */
export const run = (
  file: string,
  args: readonly string[],
  variables: Record<string, string | undefined> = {},
): Promise<string> =>
  new Promise((done, fail) => {
    // In a process group of its own: Ctrl-C must not end the commands of disposal, and `stop` ends the children of `sh` too.
    const child = spawn(file, args, { cwd: ROOT, env: environment(variables), detached: true });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const group = child.pid ?? 0;
    if (group > 0) groups.add(group);
    child.once('error', fail);
    child.once('close', (code) => {
      groups.delete(group);
      const message = `${[file, ...args].join(' ')} failed:\n${`${stdout}${stderr}`.slice(-3_000)}`;
      if (code === 0) done(stdout);
      else fail(new Error(message.replaceAll(/eyJ\S+/g, '[token]')));
    });
  });

/** Whether a program ends with 0. */
export const succeeds = (...command: Parameters<typeof run>): Promise<boolean> =>
  run(...command).then(
    () => true,
    () => {
      stopping.throwIfAborted();
      return false;
    },
  );

/** Waits until a condition is true. @throws after a quarter of an hour, and when the rehearsal is stopped */
export const waitFor = (
  what: string | (() => string),
  isSo: () => boolean | Promise<boolean>,
): Promise<void> => waitForAnything(what, isSo, stopping);
