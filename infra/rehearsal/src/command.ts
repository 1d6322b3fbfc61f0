import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { environment } from './env.ts';

/** Root of the checkout. */
export const ROOT = resolve(import.meta.dirname, '../../..');

/**
 * Runs a program in the root of the checkout and returns its standard output.
 * @throws with the end of what it printed when it fails
 */
export const run = (
  file: string,
  args: readonly string[],
  changes: Record<string, string | undefined> = {},
): Promise<string> =>
  new Promise((done, fail) => {
    const options = { cwd: ROOT, env: environment(changes), maxBuffer: 100_000_000 };
    execFile(file, [...args], options, (error, stdout, stderr) => {
      if (error === null) done(stdout);
      else fail(new Error(`${[file, ...args].join(' ')} failed:\n${`${stdout}${stderr}`.slice(-3_000)}`));
    });
  });

/** Whether a program ends with 0. */
export const succeeds = (...command: Parameters<typeof run>): Promise<boolean> =>
  run(...command).then(
    () => true,
    () => false,
  );
