import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Kills a program with SIGKILL right before its nth operation on the file system, to simulate a crash between any two
 * steps. Load it before the program: `--import <URL of this file>?at=n`.
 */
let operationsLeft = Number(new URL(import.meta.url).searchParams.get('at'));

const killable = <Args extends unknown[], Result>(operation: (...args: Args) => Result) =>
  function (this: unknown, ...args: Args): Result {
    if (--operationsLeft === 0) process.kill(process.pid, 'SIGKILL');
    return operation.apply(this, args);
  };

const replace = (object: object, names: readonly string[]): void => {
  const methods = object as Record<string, (...args: unknown[]) => unknown>;
  for (const name of names) methods[name] = killable(methods[name] as (...args: unknown[]) => unknown);
};

const probe = await fs.open(import.meta.filename);
const handle = Object.getPrototypeOf(probe) as object;
await probe.close();
replace(handle, ['write', 'writeFile', 'appendFile', 'datasync', 'sync', 'truncate', 'read', 'close']);
replace(fs, ['mkdir', 'open', 'rename', 'unlink', 'rmdir', 'rm', 'writeFile', 'readFile', 'readdir']);
syncBuiltinESMExports();
