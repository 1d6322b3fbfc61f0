import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inherited } from './env.ts';

export const hasPgbench = spawnSync('pgbench', ['--version']).error === undefined;

/** What plays the client of a baseline: PostgreSQL's own program where it is installed, else the driver. */
export const baselineProgram = hasPgbench ? 'pgbench' : 'postgres.js';

/** How pgbench speaks: as it does unless told otherwise, or with statements that are planned once. */
export type Protocol = 'simple' | 'prepared';

export interface Load {
  /** What each connection runs over and over, a statement a line; `:name` is a variable. */
  script: string;
  connections: number;
  seconds: number;
  protocol: Protocol;
}

/** Runs of the script a second; throws when pgbench can't tell. */
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
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  rmSync(folder, { recursive: true });
  const perSecond = Number(/tps = ([\d.]+)/.exec(out)?.[1]);
  if (child.exitCode !== 0 || !(perSecond > 0)) {
    throw new Error(`pgbench ended with ${child.exitCode}: ${out}${err}`);
  }
  return perSecond;
};
