import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inherited } from './env.ts';

/** Whether pgbench sends the text of each statement (its default), or prepares it once. */
export type Protocol = 'simple' | 'prepared';

export interface Load {
  /** What each connection repeats, one statement per line; `:name` is a variable. */
  script: string;
  connections: number;
  seconds: number;
  protocol: Protocol;
}

/** Returns the runs of the script per second, the baseline of a ratio. Throws when pgbench is missing or fails. */
export const pgbench = async (
  url: string,
  { script, connections, seconds, protocol }: Load,
): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'pgbench-'));
  const file = join(folder, 'script.sql');
  writeFileSync(file, script);
  const flags = { '-c': connections, '-j': 1, '-T': seconds, '-M': protocol, '-f': file };
  const args = ['-n', ...Object.entries(flags).flatMap(([flag, value]) => [flag, String(value)]), url];
  const child = spawn('pgbench', args, { env: inherited, stdio: ['ignore', 'pipe', 'pipe'] });
  child.on('error', (cause) => {
    throw new Error('Install pgbench to run the benchmarks (Debian: apt-get install postgresql-contrib).', {
      cause,
    });
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  rmSync(folder, { recursive: true });
  const perSecond = Number(/tps = ([\d.]+)/.exec(out)?.[1]);
  if (child.exitCode !== 0 || !(perSecond > 0)) {
    throw new Error(`pgbench failed with exit code ${child.exitCode}: ${out}${err}`);
  }
  return perSecond;
};
