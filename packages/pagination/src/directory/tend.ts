import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '@platform/service-kit/log';
import { Gauge, type Registry } from 'prom-client';
import type { Sql } from 'postgres';
import type { Directory } from './declare.ts';
import { countUnfolded, foldChanges, measureDrift, thinBuckets } from './upkeep.ts';

export interface Tended {
  sql: Sql;
  directories: readonly Directory[];
  log: Log;
  registry: Registry;
  /** Milliseconds between two rounds of folding; what was written in between, readers add up. */
  foldEvery?: number;
  thinEvery?: number;
  checkEvery?: number;
}

const gaugesOf = ({ sql, directories, registry }: Tended) => {
  new Gauge({
    name: 'directory_unfolded_changes',
    help: 'Changes of a list that its readers add up one by one; grows when folding lags behind',
    labelNames: ['list'],
    registers: [registry],
    async collect() {
      for (const directory of directories) {
        const unfolded = await countUnfolded(sql, directory).catch(() => undefined);
        if (unfolded !== undefined) this.set({ list: directory.table }, unfolded);
      }
    },
  });
  return new Gauge({
    name: 'directory_drift_rows',
    help: 'Rows by which the directory of a list was off when last compared; anything but 0 calls for a rebuild',
    labelNames: ['list'],
    registers: [registry],
  });
};

/**
 * Keeps directories in shape until disposed of: folds changes in, thins buckets out, compares with the
 * list. Every instance of a service may do so: they skip what another is at. Nothing here decides
 * whether an answer is right, only how fast it is.
 */
export const tendDirectories = (tended: Tended): AsyncDisposable => {
  const { sql, directories, log, foldEvery = 250, thinEvery = 60_000, checkEvery = 3_600_000 } = tended;
  const drift = gaugesOf(tended);
  const stopped = new AbortController();
  const { signal } = stopped;
  const check = async (directory: Directory): Promise<void> => {
    const off = await measureDrift(sql, directory, signal);
    drift.set({ list: directory.table }, off);
    if (off !== 0) log.error({ list: directory.table, off }, 'the page directory is off: rebuild it');
  };

  /** Every `ms`, give or take a tenth so that instances spread, one after the other. */
  const every = async (ms: number, work: (directory: Directory) => Promise<unknown>): Promise<void> => {
    const failing = new Set<Directory>();
    while (!signal.aborted) {
      await wait(ms * (0.9 + Math.random() / 5), undefined, { ref: false, signal }).catch(() => undefined);
      for (const directory of directories) {
        if (signal.aborted) return;
        try {
          await work(directory);
          failing.delete(directory);
        } catch (err) {
          if (signal.aborted) return;
          // Logged once until the work succeeds again, each list for itself.
          if (!failing.has(directory))
            log.warn({ err, list: directory.table }, 'page directory maintenance failed');
          failing.add(directory);
        }
      }
    }
  };
  const tending = [
    every(foldEvery, (directory) => foldChanges(sql, directory, signal)),
    every(thinEvery, (directory) => thinBuckets(sql, directory, signal)),
    every(checkEvery, check),
  ];
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await Promise.all(tending);
    },
  };
};
