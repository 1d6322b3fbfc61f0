import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';
import { safeError } from '../tracker/failure.ts';

/**
 * The clock of the database, the same for all processes. It is measured while the database is available and
 * continued with a monotonic timer, so setting the clock of this machine changes nothing.
 */
export interface DatabaseClock extends AsyncDisposable {
  now(): Date;
  /** How far it is ahead of the clock of this machine. */
  readonly aheadMs: number;
  /** Uses the difference that an earlier process measured, until this one can measure. */
  restore(aheadMs: number): void;
  /** Measures now and then every ten seconds. Resolves after the first attempt. */
  start(): Promise<void>;
}

const measureMs = 10_000;
const firstMeasureMs = 2000;
/** Two clocks differ by at most this much more after a second. */
const driftMsPerMs = 0.0002;

interface Measured {
  /** Time of the database minus `performance.now()`. */
  offset: number;
  /** The offset is exact to plus or minus this. */
  errorMs: number;
  at: number;
}

/** Keeps the more exact measurement, unless the two contradict each other: then the clock was set. */
const better = (known: Measured | undefined, next: Measured): Measured => {
  if (known === undefined) return next;
  const errorMs = known.errorMs + (next.at - known.at) * driftMsPerMs;
  const isContradiction = Math.abs(next.offset - known.offset) > errorMs + next.errorMs;
  return isContradiction || next.errorMs <= errorMs ? next : known;
};

export const createDatabaseClock = (sql: Sql, log: Log): DatabaseClock => {
  let offset = Date.now() - performance.now();
  let measured: Measured | undefined;
  const stack = new AsyncDisposableStack();

  const measure = async (): Promise<void> => {
    const before = performance.now();
    const [row] = await sql<{ ms: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
    const at = performance.now();
    if (row === undefined) return;
    const errorMs = (at - before) / 2;
    measured = better(measured, { offset: row.ms - at + errorMs, errorMs, at });
    ({ offset } = measured);
  };

  const nowMs = () => offset + performance.now();
  return {
    now: () => new Date(nowMs()),
    get aheadMs() {
      return nowMs() - Date.now();
    },
    restore: (aheadMs) => {
      if (measured === undefined) offset = Date.now() + aheadMs - performance.now();
    },
    start: async () => {
      const run = () => measure().catch((error: unknown) => Promise.reject(safeError(error)));
      const first = Promise.withResolvers<void>();
      stack.use(
        startBackground({
          name: 'clock',
          everyMs: measureMs,
          log,
          // The first query also opens a connection, which takes longer than the query.
          run: () => run().then(run).finally(first.resolve),
        }),
      );
      const late = setTimeout(first.resolve, firstMeasureMs);
      await first.promise;
      clearTimeout(late);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};
