import { runProgram } from '@platform/program';
import { startBackground, type BackgroundTask } from '@platform/service-kit/background';
import type { BaseContext } from '@platform/service-kit/context';
import { openDatabase } from '@platform/service-kit/db';
import { databaseUrl } from '@platform/service-kit/env';
import type { Log } from '@platform/service-kit/log';
import { createReading } from '@platform/service-kit/reading';
import { Gauge, type Registry } from '@prometheus-io/client';
import {
  countPendingChanges,
  fold,
  measureDrift,
  mergeBuckets,
  rebuild,
  type Directory,
} from './directory/index.ts';

export interface MaintenanceOptions {
  databaseUrl: string;
  directories: readonly Directory[];
  log: Log;
  registry: Registry;
  /** Milliseconds between two folds. Every page adds up the changes since the last one, so folds are frequent. */
  foldEvery?: number;
  /** Milliseconds between two folds while nothing is written. `hint` ends the pause. */
  foldIdle?: number;
  mergeEvery?: number;
  checkEvery?: number;
}

/** First key of the advisory lock of a check; the second key is the list. */
const checkLock = 4_218_336;

/** Long enough to rebuild the directory of a large list. */
const statementTimeoutMs = 600_000;

/**
 * Maintains page directories until disposed of: folds changes, merges small buckets, and rebuilds a directory that
 * differs from its list. Exports pending changes and differences as metrics. Every instance of a service may run
 * it: only one works at a time.
 */
export const maintainDirectories = (options: MaintenanceOptions) => {
  const { databaseUrl, directories, log, registry } = options;
  const { foldEvery = 200, foldIdle = 30_000, mergeEvery = 60_000, checkEvery = 3_600_000 } = options;
  const database = openDatabase({ url: databaseUrl, name: 'page-directories', max: 2, statementTimeoutMs });
  const { sql } = database;

  const readPendingChanges = createReading(registry, 'directories', async () => {
    const counts = [];
    for (const directory of directories)
      counts.push({ list: directory.name, pending: await countPendingChanges(sql, directory) });
    return counts;
  });
  new Gauge({
    name: 'directory_pending_changes',
    help: 'Changes of a list that are not folded yet, so that every page has to add them up',
    labelNames: ['list'],
    registers: [registry],
    async collect() {
      for (const { list, pending } of (await readPendingChanges()) ?? []) this.set({ list }, pending);
    },
  });
  const drift = new Gauge({
    name: 'directory_drift_rows',
    help: 'Rows by which a page directory differed from its list at the last check, which then rebuilt it',
    labelNames: ['list'],
    registers: [registry],
  });
  const check = async (directory: Directory): Promise<void> => {
    await sql.begin(async (tx) => {
      // The lock lets only one of several instances check and rebuild a directory at a time.
      const [{ locked }] = await tx<[{ locked: boolean }]>`
        select pg_try_advisory_xact_lock(${checkLock}, hashtext(${directory.table})) as locked`;
      if (!locked) return;
      const rows = await measureDrift(tx, directory);
      drift.set({ list: directory.name }, rows);
      if (rows === 0) return;
      log.error({ list: directory.name, rows }, 'the page directory differs from its list and is rebuilt');
      await rebuild(tx, directory);
    });
  };
  const tasks = directories.flatMap((directory) => {
    /** Whether a fold may have left small buckets since the last merge. */
    let mayMerge = true;
    const foldChanges = async (): Promise<boolean | void> => {
      const folded = await fold(sql, directory);
      // Another instance holds the lock: undefined schedules the next run after `foldEvery`.
      if (folded === undefined) return undefined;
      if (folded === 0) return false;
      mayMerge = true;
      // After many changes, probably more are pending already.
      return folded > 4 * directory.bucket || undefined;
    };
    const mergeAfterFold = async (): Promise<void> => {
      if (!mayMerge) return;
      mayMerge = false;
      await mergeBuckets(sql, directory);
    };
    const start = ({ name, ...task }: Omit<BackgroundTask, 'log'>) =>
      startBackground({ name: `${name} ${directory.name}`, log, ...task });
    return [
      start({ name: 'fold changes of', everyMs: foldEvery, idleMs: foldIdle, run: foldChanges }),
      start({ name: 'merge buckets of', everyMs: mergeEvery, run: mergeAfterFold }),
      start({
        name: 'check page directory of',
        everyMs: checkEvery,
        // A check reads the whole list, so it is not part of the start.
        pauseFirst: true,
        run: () => check(directory),
      }),
    ];
  });

  return {
    /** Call it when a list may have changed. */
    hint: (): void => {
      for (const task of tasks) task.hint();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      // Not awaited: a statement that waits for a lock ends with its connection.
      for (const task of tasks) void task[Symbol.asyncDispose]();
      await sql.end({ timeout: 0 });
    },
  };
};

/** Maintains the page directories of a service until its context, which is returned, is disposed of. */
export const withMaintenance = <Context extends BaseContext>(
  context: Context,
  databaseUrl: string,
  directories: readonly Directory[],
): Context => {
  const { log, metrics } = context;
  const { hint } = context.resources.use(
    maintainDirectories({ databaseUrl, directories, log, registry: metrics.registry }),
  );
  return { ...context, changed: hint };
};

/** Counts the rows by which each page directory differs from its list. For a command, for example after a restore. */
export const findDrift = async (
  databaseUrl: string,
  directories: readonly Directory[],
): Promise<{ list: string; rows: number }[]> => {
  await using database = openDatabase({ url: databaseUrl, name: 'drift', max: 1, statementTimeoutMs });
  const drifts = [];
  for (const directory of directories)
    drifts.push({ list: directory.name, rows: await measureDrift(database.sql, directory) });
  return drifts;
};

const usage = `drift: prints by how many rows page directories differ from their lists
It reads the database of DATABASE_URL, or of the local platform if that is not set. Exit code 1: a directory differs.`;

/** Runs `findDrift` as a command of a service. */
export const printDrift = (service: string, directories: readonly Directory[]): Promise<void> =>
  runProgram(usage, async () => {
    const drifts = await findDrift(databaseUrl(service), directories);
    process.stdout.write(`${JSON.stringify(drifts, null, 2)}\n`);
    return drifts.every(({ rows }) => rows === 0) ? 0 : 1;
  });
