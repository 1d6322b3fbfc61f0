import { Gauge, type Registry } from 'prom-client';
import { runOutsideRequest } from '../overload/request-scope.ts';

/** A sample a minute; those of two hours are kept, because alerts wait for an hour at most. */
const everyMs = 60_000;
const kept = 120;
/** Gauges may query the database, and any number of people may look at the operations page. */
const currentMs = 2000;

interface Sample {
  /** ISO 8601. */
  at: string;
  /** By series, written as Prometheus does: `db_pool_connections{state="active"}`. */
  values: Map<string, number>;
}

/** Gauges in columns: each series has a value for each time, null where it had none. */
interface GaugeHistory {
  times: string[];
  values: Record<string, (number | null)[]>;
}

/** The values of a service's own gauges over the last two hours, so that somebody without a Prometheus can see them. */
export interface Samples {
  /** Takes samples until it is disposed of. */
  start(): Disposable;
  /** The samples, oldest first; the last one is taken now. */
  read(): Promise<GaugeHistory>;
}

const nameOf = (metric: string, labels: Partial<Record<string, string | number>>): string => {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(String(value))}`);
  return pairs.length === 0 ? metric : `${metric}{${pairs.join(',')}}`;
};

/** The gauges of the libraries, `process_` and `nodejs_`, are left out: reading some of them resets them. */
const isOwn = ({ name }: { name: string }): boolean =>
  !name.startsWith('process_') && !name.startsWith('nodejs_');

export const createSamples = (registry: Registry): Samples => {
  const samples: Sample[] = [];
  let [current, until] = [Promise.resolve<Sample>({ at: '', values: new Map() }), 0];

  const takeNow = async (): Promise<Sample> => {
    const at = new Date().toISOString();
    const own = registry.getMetricsAsArray().filter(isOwn);
    const gauges = own
      .map(({ name }) => registry.getSingleMetric(name))
      .filter((one) => one instanceof Gauge);
    const read = await Promise.all(gauges.map((gauge) => gauge.get()));
    const values = read.flatMap(({ name, values: found }) =>
      found.map(({ labels, value }) => [nameOf(name, labels), value] as const),
    );
    return { at, values: new Map(values) };
  };
  /** Shared by all who ask, so it does not end with the request of the first. */
  const take = (): Promise<Sample> => {
    if (performance.now() >= until) {
      until = performance.now() + currentMs;
      current = runOutsideRequest(takeNow);
    }
    return current;
  };
  const add = async (): Promise<void> => {
    samples.push(await take());
    if (samples.length > kept) samples.shift();
  };

  return {
    start: () => {
      const timer = setInterval(() => void add().catch(() => undefined), everyMs).unref();
      return { [Symbol.dispose]: () => clearInterval(timer) };
    },
    read: async () => {
      const all = [...samples, await take()];
      const names = new Set(all.flatMap(({ values }) => [...values.keys()]));
      const column = (name: string) =>
        all.map(({ values }) => {
          const value = values.get(name);
          return value === undefined || !Number.isFinite(value) ? null : value;
        });
      return {
        times: all.map(({ at }) => at),
        values: Object.fromEntries([...names].map((name) => [name, column(name)])),
      };
    },
  };
};
