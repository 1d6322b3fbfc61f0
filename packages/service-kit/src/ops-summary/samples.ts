import { Gauge, type Registry } from '@prometheus-io/client';
import { runOutsideRequest } from '../overload/request-scope.ts';

/** Gauges may query the database, and any number of people may look at the operations page. */
const currentMs = 2000;
/** Probes do not wait for gauges, so they are told values that are a little older. */
const latestMs = 10_000;

/** By series, written as Prometheus does: `db_pool_connections{state="active"}`; null where there is no number. */
export type GaugeValues = Record<string, number | null>;

const nameOf = (metric: string, labels: Partial<Record<string, string | number>>): string => {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(String(value))}`);
  return pairs.length === 0 ? metric : `${metric}{${pairs.join(',')}}`;
};

/** The gauges of the libraries, `process_` and `nodejs_`, are left out: reading some of them resets them. */
const isOwn = ({ name }: { name: string }): boolean =>
  !name.startsWith('process_') && !name.startsWith('nodejs_');

/** The values of a service's own gauges, so that somebody without a Prometheus can see them. */
export const createSamples = (registry: Registry) => {
  let latest: GaugeValues = {};
  let reading = Promise.resolve(latest);
  let readAt = Number.NEGATIVE_INFINITY;

  const readGauges = async (): Promise<GaugeValues> => {
    const own = registry.getMetricsAsArray().filter(isOwn);
    const gauges = own
      .map(({ name }) => registry.getSingleMetric(name))
      .filter((metric) => metric instanceof Gauge);
    const read = await Promise.all(gauges.map((gauge) => gauge.get()));
    const series = read.flatMap(({ name, values }) =>
      values.map(({ labels, value }) => [nameOf(name, labels), Number.isFinite(value) ? value : null]),
    );
    latest = Object.fromEntries(series) as GaugeValues;
    return latest;
  };
  /** Shared by all who ask, so it does not end with the request of the first. */
  const readUnlessYounger = (ageMs: number): Promise<GaugeValues> => {
    if (performance.now() - readAt >= ageMs) {
      readAt = performance.now();
      reading = runOutsideRequest(readGauges);
    }
    return reading;
  };
  return {
    /** The values now; those of two seconds ago count. */
    read: (): Promise<GaugeValues> => readUnlessYounger(currentMs),
    /** The values that were read last, at once; reads them again when they are old. Empty before the first reading. */
    latest: (): GaugeValues => {
      // A probe must not fail for a gauge: the values of before are given.
      void readUnlessYounger(latestMs).catch(() => undefined);
      return latest;
    },
  };
};
