import type { Histogram, MetricValue, Registry } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** Distance of two samples, in ms, and how many are kept: half an hour. */
const step = 10_000;
const kept = 181;

/** What the histogram of requests had counted by then, over all operations. */
interface Sample {
  at: number;
  requests: number;
  errors: number;
  /** Upper bound in seconds → requests that took no longer. */
  buckets: Map<number, number>;
}

/** What happened between two samples. */
interface Point {
  /** End of the span, ms since 1970; a multiple of 10 s, so that points of several processes meet. */
  at: number;
  requestsPerSecond: number;
  /** Answers from 500 up. */
  errorsPerSecond: number;
  /** Null when there was no request. Within its bucket it is interpolated, as Prometheus does. */
  p99Ms: number | null;
}

/** The last half hour of a process, from what it measures anyway. */
export interface History extends Disposable {
  startedAt: Date;
  /** Takes a sample now; a timer does so every 10 s. */
  sample(): Promise<void>;
  points(): Point[];
}

/** Probes, scrapes and unknown paths have no template; a page that looks here should not see itself. */
const counts = ({ route }: MetricValue<string>['labels']): boolean =>
  route !== 'none' && !String(route).startsWith('/ops/');

const takeSample = async (registry: Registry, at: number): Promise<Sample> => {
  const metric = registry.getSingleMetric('http_request_duration_seconds') as Histogram | undefined;
  const sample: Sample = { at, requests: 0, errors: 0, buckets: new Map() };
  for (const { labels, value, metricName } of (await metric?.get())?.values ?? []) {
    if (!counts(labels)) continue;
    if (metricName?.endsWith('_count')) {
      sample.requests += value;
      if (Number(labels['status']) >= 500) sample.errors += value;
    } else if (labels['le'] !== undefined && labels['le'] !== '+Inf') {
      const bound = Number(labels['le']);
      sample.buckets.set(bound, (sample.buckets.get(bound) ?? 0) + value);
    }
  }
  return sample;
};

/** The time within which 99 of 100 requests were answered, in ms; the highest bound where it lies beyond. */
const p99Of = (before: Sample, after: Sample): number | null => {
  const rank = 0.99 * (after.requests - before.requests);
  if (rank <= 0) return null;
  let [lower, below] = [0, 0];
  for (const [upper, total] of [...after.buckets].toSorted(([a], [b]) => a - b)) {
    const within = total - (before.buckets.get(upper) ?? 0);
    if (within >= rank) return 1000 * (lower + ((upper - lower) * (rank - below)) / (within - below));
    [lower, below] = [upper, within];
  }
  return 1000 * lower;
};

const pointOf = (before: Sample, after: Sample): Point => {
  const seconds = (after.at - before.at) / 1000;
  return {
    at: after.at,
    requestsPerSecond: (after.requests - before.requests) / seconds,
    errorsPerSecond: (after.errors - before.errors) / seconds,
    p99Ms: p99Of(before, after),
  };
};

/**
 * Keeps what the metrics said over the last half hour. Nothing of it happens while a request is answered: a timer
 * reads the totals.
 */
export const keepHistory = ({ registry }: Metrics, now: () => number = Date.now): History => {
  const startedAt = new Date(now());
  const boundary = (): number => Math.round(now() / step) * step;
  const samples: Sample[] = [
    { at: Math.floor(now() / step) * step, requests: 0, errors: 0, buckets: new Map() },
  ];
  const sample = async (): Promise<void> => {
    const taken = await takeSample(registry, boundary());
    if (taken.at <= (samples.at(-1)?.at ?? 0)) return;
    samples.push(taken);
    if (samples.length > kept) samples.shift();
  };
  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    timer = setTimeout(() => void sample().then(schedule, schedule), step - (now() % step)).unref();
  };
  schedule();
  return {
    startedAt,
    sample,
    points: () => samples.slice(1).map((after, index) => pointOf(samples[index] ?? after, after)),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
};
