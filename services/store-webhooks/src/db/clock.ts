import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';

const measureMs = 10_000;
const firstMeasureMs = 2000;
/** Two clocks differ by at most this much more after a second. */
const driftMsPerMs = 0.0002;

/** A larger step of the clock may be a mistake, so it counts only when it is still there after this time. */
const [largeStepMs, confirmMs] = [300_000, 60_000];

interface Measured {
  /** Time of the database minus `performance.now()`, which is `at`. */
  offset: number;
  /** The offset is exact to plus or minus this. */
  errorMs: number;
  at: number;
}

const contradicts = (known: Measured, next: Measured): boolean =>
  Math.abs(next.offset - known.offset) > errorAt(known, next.at) + next.errorMs;

const errorAt = ({ errorMs, at }: Measured, now: number): number => errorMs + (now - at) * driftMsPerMs;

/**
 * Chooses between measurements: the more exact one, unless they contradict each other, because then the clock was set.
 * A large step is ignored until a measurement a minute later confirms it.
 */
export const createClockEstimate = () => {
  let known: Measured | undefined;
  /** The first measurement after a large step. */
  let suspect: Measured | undefined;
  return (next: Measured): Measured => {
    if (known === undefined) return (known = next);
    if (!contradicts(known, next)) {
      suspect = undefined;
      return (known = next.errorMs <= errorAt(known, next.at) ? next : known);
    }
    if (Math.abs(next.offset - known.offset) > largeStepMs) {
      if (suspect === undefined || contradicts(suspect, next)) suspect = next;
      if (next.at - suspect.at < confirmMs) return known;
    }
    suspect = undefined;
    return (known = next);
  };
};

export type DatabaseClock = ReturnType<typeof createDatabaseClock>;

/**
 * The clock of the database, the same for all instances. It is measured while the database is available and
 * continued with a monotonic timer, so setting the clock of this machine changes nothing.
 */
export const createDatabaseClock = (sql: Sql, log: Log) => {
  let offset = Date.now() - performance.now();
  let isMeasured = false;
  const estimate = createClockEstimate();
  const stack = new AsyncDisposableStack();

  const measure = async (): Promise<void> => {
    const before = performance.now();
    const [row] = await sql<{ ms: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
    const at = performance.now();
    if (row === undefined) return;
    const errorMs = (at - before) / 2;
    ({ offset } = estimate({ offset: row.ms - at + errorMs, errorMs, at }));
    isMeasured = true;
  };

  const nowMs = () => offset + performance.now();
  return {
    now: () => new Date(nowMs()),
    /** How far it is ahead of the clock of this machine. */
    get aheadMs(): number {
      return nowMs() - Date.now();
    },
    /** Uses the difference that an earlier instance measured, until this one can measure. */
    restore: (aheadMs: number): void => {
      if (!isMeasured) offset = Date.now() + aheadMs - performance.now();
    },
    /** Measures now and then every ten seconds. Resolves after the first attempt. */
    start: async (): Promise<void> => {
      const first = Promise.withResolvers<void>();
      stack.use(
        startBackground({
          name: 'clock',
          everyMs: measureMs,
          log,
          // The first query also opens a connection, and each may wait for the processor: the most exact one counts.
          run: async () => {
            const count = isMeasured ? 1 : 5;
            try {
              for (let done = 0; done < count; done++) await measure();
            } finally {
              first.resolve();
            }
          },
        }),
      );
      const late = setTimeout(first.resolve, firstMeasureMs);
      await first.promise;
      clearTimeout(late);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};
