import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from '@prometheus-io/client';
import { runOutsideRequest } from '../overload/request-scope.ts';

/** How long a scrape waits for a value, and how long after a failed or slow read. */
const patienceMs = 500;
const slowPatienceMs = 50;

/** Resolves with the newest value that was read; undefined before the first successful read. Never rejects. */
export type Reading<T> = () => Promise<T | undefined>;

interface State {
  /** Waits until the value was read again, or for as long as a scrape may wait. */
  refresh(): Promise<void>;
  /** Time of the last successful read, as `performance.now()`. */
  readAt: number | undefined;
}

const readingsOf = new WeakMap<Registry, Map<string, State>>();

const openReadings = (registry: Registry): Map<string, State> => {
  const readings = new Map<string, State>();
  readingsOf.set(registry, readings);
  new Gauge({
    name: 'metrics_reading_age_seconds',
    help: 'Age of the values that a group of gauges last read from the database; NaN before the first read',
    labelNames: ['reading'],
    registers: [registry],
    async collect() {
      await Promise.all([...readings.values()].map(({ refresh }) => refresh()));
      for (const [reading, { readAt }] of readings)
        this.set({ reading }, readAt === undefined ? Number.NaN : (performance.now() - readAt) / 1000);
    },
  });
  return readings;
};

/**
 * Creates a reader for gauges whose values come from the database. One read runs at a time, and gauges that are collected
 * at the same time share it. While a read is slow or fails, the reader returns the last value, so that a scrape does not
 * wait for an unavailable database. The gauge `metrics_reading_age_seconds` reports the value's age, labelled with `name`.
 */
export const createReading = <T>(registry: Registry, name: string, read: () => Promise<T>): Reading<T> => {
  const readings = readingsOf.get(registry) ?? openReadings(registry);
  let value: T | undefined;
  let running: Promise<void> | undefined;
  let isSlow = false;

  const start = (): Promise<void> =>
    runOutsideRequest(async () => {
      try {
        // Asynchronous, because a read that fails at once must not reset `running` before it is set.
        value = await Promise.resolve().then(read);
        state.readAt = performance.now();
        isSlow = false;
      } catch {
        isSlow = true;
      } finally {
        running = undefined;
      }
    });
  const refresh = async (): Promise<void> => {
    const currentRead = (running ??= start());
    const waitMs = isSlow ? slowPatienceMs : patienceMs;
    await Promise.race([currentRead, sleep(waitMs, undefined, { ref: false })]);
    isSlow ||= running === currentRead;
  };
  const state: State = { refresh, readAt: undefined };
  readings.set(name, state);
  return async () => {
    await refresh();
    return value;
  };
};
