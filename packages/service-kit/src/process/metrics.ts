import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { Database } from '../database/database.ts';
import type { Redis } from 'ioredis';
import { createHistory } from '../ops-summary/history.ts';
import { createReading } from './reading.ts';
import { isRedisUp } from './redis.ts';
import { createSamples } from '../ops-summary/samples.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of requests. The histogram of durations also gives request rates and error rates. */
export const createMetrics = () => {
  const registry = new Registry();
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte read to the last byte written',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // Cached, because finding a label set costs more than counting. There are few combinations of route and status.
  const series = new Map<string, Histogram.Internal<string>>();
  const history = createHistory();
  /**
   * Counts an answered request. `route` is its template. Probes, scrapes and unknown paths have none: their label is `none`,
   * and the history does not include them.
   */
  const record = (method: string, route = 'none', status: number, ms: number): void => {
    if (route !== 'none') history.add(status, ms);
    const key = `${method} ${status} ${route}`;
    let durations = series.get(key);
    if (durations === undefined)
      series.set(key, (durations = duration.labels(method, route, String(status))));
    durations.observe(ms / 1000);
  };
  const refused = new Counter({
    name: 'http_requests_refused_total',
    help: 'Requests refused at once because too many were in progress or waited for a connection',
    registers: [registry],
  });
  /** Counts a request that was refused with 503 before any work was done for it. */
  const recordRefused = (): void => {
    refused.inc();
    history.addRefused();
  };
  // `/ops/summary` returns `history` and `samples` (values of gauges); `/readyz` returns the samples too.
  return { registry, history, samples: createSamples(registry), record, recordRefused };
};

/** Adds the metrics of the process (memory, CPU, event loop lag, garbage collection). Call it once. */
export const addProcessMetrics = ({ registry }: Metrics): void =>
  collectDefaultMetrics({ register: registry });

/** Adds a gauge for whether Redis answers; none if the service has no Redis. */
export const addRedisMetrics = ({ registry }: Metrics, redis: Redis | undefined): void => {
  if (redis === undefined) return;
  new Gauge({
    name: 'redis_up',
    help: '1 when Redis answered this scrape',
    registers: [registry],
    async collect() {
      this.set(Number(await isRedisUp(redis)));
    },
  });
};

/**
 * Adds gauges for the connection pool and for whether the database answers. A scrape waits at most half a second for the
 * database; see `createReading`.
 */
export const addPoolMetrics = ({ registry }: Metrics, database: Database): void => {
  let isUp = false;
  const ping = createReading(registry, 'database', async () => {
    await database.ping().catch((error: unknown) => {
      isUp = false;
      throw error;
    });
    isUp = true;
  });
  const connections = createReading(registry, 'connections', database.connections);
  const gauge = (name: string, help: string, collect: (this: Gauge) => Promise<void> | void): Gauge =>
    new Gauge({ name, help, registers: [registry], collect });

  gauge('db_pool_max', 'Size of the connection pool', function collect() {
    this.set(database.max);
  });
  gauge('db_pool_waiting', 'Statements and transactions that wait for a connection', function collect() {
    this.set(database.queue.waiting());
  });
  new Counter({
    name: 'db_pool_refused_total',
    help: 'Statements and transactions refused because too many waited, or because they waited too long',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(database.queue.refused());
    },
  });
  gauge(
    'db_up',
    '1 when the database answered this scrape; if it has not answered yet, the value of the previous scrape',
    async function collect() {
      await ping();
      this.set(Number(isUp));
    },
  );
  new Gauge({
    name: 'db_pool_connections',
    help: 'Connections of this process, by state',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const states = (await connections()) ?? [];
      this.reset();
      for (const { state, count } of states) this.set({ state }, count);
    },
  });
};
