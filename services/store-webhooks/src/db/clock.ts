import { startBackground } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';

const measureMs = 10_000;
const firstRoundTimeoutMs = 2000;
/** Assumed maximum drift between two clocks: 0.2 ms per second. */
const driftMsPerMs = 0.0002;

/** A clock step above `largeStepMs` may be a mistake, so it is accepted only if it persists for `confirmMs`. */
const [largeStepMs, confirmMs] = [300_000, 60_000];

interface Measurement {
  /** Database time minus `performance.now()` at the time `at`. */
  offset: number;
  /** The offset is accurate to plus or minus this. */
  errorMs: number;
  at: number;
}

const contradicts = (current: Measurement, next: Measurement): boolean =>
  Math.abs(next.offset - current.offset) > errorAt(current, next.at) + next.errorMs;

const errorAt = ({ errorMs, at }: Measurement, now: number): number => errorMs + (now - at) * driftMsPerMs;

/**
 * Returns a function that takes each new measurement and returns the best one so far: the more accurate one, or the new one if
 * they contradict each other, because then the clock was set. A large step is ignored until a measurement a minute later
 * confirms it.
 */
export const createClockEstimate = () => {
  let current: Measurement | undefined;
  /** The first measurement after a large step. */
  let suspect: Measurement | undefined;
  return (next: Measurement): Measurement => {
    if (current === undefined) return (current = next);
    if (!contradicts(current, next)) {
      suspect = undefined;
      return (current = next.errorMs <= errorAt(current, next.at) ? next : current);
    }
    if (Math.abs(next.offset - current.offset) > largeStepMs) {
      if (suspect === undefined || contradicts(suspect, next)) suspect = next;
      if (next.at - suspect.at < confirmMs) return current;
    }
    suspect = undefined;
    return (current = next);
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
    /** How far the database clock is ahead of this machine's clock. */
    get aheadMs(): number {
      return nowMs() - Date.now();
    },
    /** Uses the difference that an earlier instance measured, until this one can measure. */
    restore: (aheadMs: number): void => {
      if (!isMeasured) offset = Date.now() + aheadMs - performance.now();
    },
    /** Measures at once, and then every ten seconds. Resolves after the first round, after two seconds at the latest. */
    start: async (): Promise<void> => {
      const first = Promise.withResolvers<void>();
      stack.use(
        startBackground({
          name: 'clock',
          everyMs: measureMs,
          log,
          // Five at the start, and the most accurate one counts: the first opens a connection, any may wait for the CPU.
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
      const timeout = setTimeout(first.resolve, firstRoundTimeoutMs);
      await first.promise;
      clearTimeout(timeout);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};
