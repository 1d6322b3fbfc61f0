import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from './database.ts';

export interface Metrics {
  registry: Registry;
  /** Counts one answered request by method, route template and status. */
  record(method: string, route: string, status: number, ms: number): void;
}

/** Request durations; the sums and counts of the same histogram give rates and error rates. */
export const createMetrics = (): Metrics => {
  const registry = new Registry();
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte read to the last byte written',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // Looking a label set up costs more than counting; routes × statuses are few.
  const series = new Map<string, Histogram.Internal<string>>();
  const record: Metrics['record'] = (method, route, status, ms) => {
    const key = `${method} ${status} ${route}`;
    let one = series.get(key);
    if (one === undefined) series.set(key, (one = duration.labels(method, route, String(status))));
    one.observe(ms / 1000);
  };
  return { registry, record };
};

/** Process metrics (memory, CPU, event loop lag, garbage collection): once a process. */
export const addProcessMetrics = ({ registry }: Metrics): void =>
  collectDefaultMetrics({ register: registry });

/** Connections by state and how long a query waits for one, looked up when Prometheus asks. */
export const addPoolMetrics = ({ registry }: Metrics, database: Database): void => {
  const wait = new Gauge({
    name: 'db_pool_wait_seconds',
    help: 'How long the scrape itself waited for a connection and an empty query',
    registers: [registry],
  });
  const up = new Gauge({
    name: 'db_up',
    help: '1 when the database answered the scrape',
    registers: [registry],
  });
  new Gauge({ name: 'db_pool_max', help: 'Size of the connection pool', registers: [registry] }).set(
    database.max,
  );
  new Gauge({
    name: 'db_pool_connections',
    help: 'Connections of this process, by state',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset();
      const start = performance.now();
      const states = await database.connections().catch(() => undefined);
      wait.set((performance.now() - start) / 1000);
      up.set(states === undefined ? 0 : 1);
      for (const { state, count } of states ?? []) this.set({ state }, count);
    },
  });
};
