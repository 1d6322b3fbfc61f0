import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from '@prometheus-io/client';
import { runOutsideRequest } from '../overload/request-scope.ts';

/** How long a scrape waits for a value; after a failure, and while one is late, it waits only for a quick answer. */
const patienceMs = 500;
const quickMs = 50;

/** Resolves with the newest value that could be read; undefined before the first one. Never rejects. */
export type Reading<T> = () => Promise<T | undefined>;

interface State {
  settled(): Promise<void>;
  /** When it last succeeded, as `performance.now()`. */
  at: number | undefined;
}

const readingsOf = new WeakMap<Registry, Map<string, State>>();

const openReadings = (registry: Registry): Map<string, State> => {
  const readings = new Map<string, State>();
  readingsOf.set(registry, readings);
  new Gauge({
    name: 'metrics_reading_age_seconds',
    help: 'Age of the values that a group of gauges has from the database; NaN before the first one',
    labelNames: ['reading'],
    registers: [registry],
    async collect() {
      await Promise.all([...readings.values()].map(({ settled }) => settled()));
      for (const [reading, { at }] of readings)
        this.set({ reading }, at === undefined ? Number.NaN : (performance.now() - at) / 1000);
    },
  });
  return readings;
};

/**
 * Makes a reader for gauges whose values come from the database. A scrape gets the newest value and waits for no
 * database that is away: one read runs at a time, and while it takes long, or fails, the last value stands. The gauge
 * `metrics_reading_age_seconds` has its age, labelled with `name`. Gauges that are collected at the same time share a
 * read.
 */
export const createReading = <T>(registry: Registry, name: string, read: () => Promise<T>): Reading<T> => {
  const readings = readingsOf.get(registry) ?? openReadings(registry);
  let value: T | undefined;
  let running: Promise<void> | undefined;
  let isSlow = false;

  const start = (): Promise<void> =>
    runOutsideRequest(async () => {
      try {
        // In a later turn, because a read that fails at once must not end before it has begun.
        value = await Promise.resolve().then(read);
        state.at = performance.now();
        isSlow = false;
      } catch {
        isSlow = true;
      } finally {
        running = undefined;
      }
    });
  const settled = async (): Promise<void> => {
    const own = (running ??= start());
    await Promise.race([own, sleep(isSlow ? quickMs : patienceMs, undefined, { ref: false })]);
    isSlow ||= running === own;
  };
  const state: State = { settled, at: undefined };
  readings.set(name, state);
  return async () => {
    await settled();
    return value;
  };
};
