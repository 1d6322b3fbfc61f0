import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inherited } from './env.ts';

/**
 * Runs a script over 16 connections with prepared statements, one transaction a statement.
 * @param script one statement per line; `:name` is a variable
 * @returns how often a second
 * @throws when pgbench is missing or fails
 */
export const pgbench = async (url: string, script: string, seconds: number): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'pgbench-'));
  const file = join(folder, 'script.sql');
  writeFileSync(file, script);
  const flags = ['-n', '-c16', '-j1', `-T${seconds}`, '-Mprepared', '-f', file];
  const child = spawn('pgbench', [...flags, url], { env: inherited, stdio: ['ignore', 'pipe', 'pipe'] });
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
