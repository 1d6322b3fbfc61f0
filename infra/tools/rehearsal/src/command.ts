import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { waitFor as waitForCondition } from '@platform/e2e/wait';
import { environment } from './env.ts';

/** Root of the checkout. */
export const ROOT = resolve(import.meta.dirname, '../../../..');

const stopper = new AbortController();
/** Aborted by `stop`. */
export const stopping = stopper.signal;

/** Process groups of running programs. */
const groups = new Set<number>();

/** Stops the running programs; disposal can still start others. */
export const stop = (reason: string): void => {
  if (stopping.aborted) return;
  stopper.abort(new Error(reason));
  for (const group of groups) {
    try {
      process.kill(-group, 'SIGTERM');
    } catch {
      // The group has already ended.
    }
  }
};

/**
 * Runs a program in the root of the checkout and returns its standard output. `undefined` removes a variable.
 * @throws when it fails, with the command and the end of its output, without tokens
 */
export const run = (
  file: string,
  args: readonly string[],
  variables: Record<string, string | undefined> = {},
): Promise<string> =>
  new Promise((done, fail) => {
    // Its own process group: Ctrl-C must not end the commands of disposal, and `stop` also ends the children of `sh`.
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

/** Whether a program exits with 0. */
export const succeeds = (...command: Parameters<typeof run>): Promise<boolean> =>
  run(...command).then(
    () => true,
    () => {
      stopping.throwIfAborted();
      return false;
    },
  );

/** Waits until a condition is true. @throws after 15 minutes, and when the rehearsal is stopped */
export const waitFor = (
  description: string | (() => string),
  condition: () => boolean | Promise<boolean>,
): Promise<void> => waitForCondition(description, condition, stopping);
