import { Gauge, type Registry } from '@prometheus-io/client';
import { runOutsideRequest } from '../overload/request-scope.ts';

/** The operations page caches values for this time, because gauges may query the database and the page may have many viewers. */
const readCacheMs = 2000;
/** Maximum age of the values for probes, which do not wait for gauges. */
const latestMaxAgeMs = 10_000;

/** Series name as in Prometheus, such as `db_pool_connections{state="active"}` → value; null if it is not a finite number. */
export type GaugeValues = Record<string, number | null>;

const seriesName = (metric: string, labels: Partial<Record<string, string | number>>): string => {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(String(value))}`);
  return pairs.length === 0 ? metric : `${metric}{${pairs.join(',')}}`;
};

/** Excludes the metrics of libraries (`process_`, `nodejs_`), because reading some of them resets them. */
const isOwnMetric = ({ name }: { name: string }): boolean =>
  !name.startsWith('process_') && !name.startsWith('nodejs_');

/** Reads the values of a service's own gauges, so that the operations page works without Prometheus. */
export const createSamples = (registry: Registry) => {
  let latest: GaugeValues = {};
  let reading = Promise.resolve(latest);
  let readAt = Number.NEGATIVE_INFINITY;

  const readGauges = async (): Promise<GaugeValues> => {
    const gauges = registry
      .getMetricsAsArray()
      .filter(isOwnMetric)
      .map(({ name }) => registry.getSingleMetric(name))
      .filter((metric) => metric instanceof Gauge);
    const metrics = await Promise.all(gauges.map((gauge) => gauge.get()));
    const series = metrics.flatMap(({ name, values }) =>
      values.map(({ labels, value }) => [seriesName(name, labels), Number.isFinite(value) ? value : null]),
    );
    latest = Object.fromEntries(series) as GaugeValues;
    return latest;
  };
  /** Reads the gauges if the last read is older than `maxAgeMs`. All callers share a read, so it does not end with one request. */
  const readIfOlder = (maxAgeMs: number): Promise<GaugeValues> => {
    if (performance.now() - readAt >= maxAgeMs) {
      readAt = performance.now();
      reading = runOutsideRequest(readGauges);
    }
    return reading;
  };
  return {
    /** The current values, at most two seconds old. */
    read: (): Promise<GaugeValues> => readIfOlder(readCacheMs),
    /** Returns the last values without waiting, and starts a read if they are old. Empty before the first read. */
    latest: (): GaugeValues => {
      // Errors are ignored, because a probe must not fail because of a gauge.
      void readIfOlder(latestMaxAgeMs).catch(() => undefined);
      return latest;
    },
  };
};
