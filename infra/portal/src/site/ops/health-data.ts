import { askReadiness, isReady } from '../readiness.ts';
import { addEarlier, type Series } from './health-rules.ts';
import type { Session } from './session.ts';
import { combine, type Summary } from './traffic-data.ts';

/** Response of `/docs/ops/summary/<service>`, as far as the health strip reads it. */
interface ServiceSummary extends Summary {
  gauges: { times: string[]; values: Record<string, (number | null)[]> };
}

/** What is known of the platform at one moment, beside the number of services that are ready. */
export interface Health {
  /** How long the gateway took to answer, in ms; undefined when it did not. */
  gatewayMs: number | undefined;
  /** By metric. */
  series: Map<string, Series[]>;
  /** Why no values are known, such as a missing scope. */
  error: unknown;
}

/** The window of the rules for errors and slow answers, in seconds. */
const windowS = 300;
/** Each request reaches one process of a service; what another one said before is kept for so long. */
const keepMs = 180_000;

const median = (values: readonly number[]): number | null =>
  values.length === 0 ? null : (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null);

/** Share of errors and p99 (in seconds) of the last five minutes, at each step of the last half hour. */
const trafficSeries = (service: string, summaries: readonly Summary[]): [string, Series][] => {
  const { times, requests, errors, p99 } = combine(summaries);
  const windowAt = (at: number): number[] =>
    times.flatMap((time, index) => (time <= at && time > at - windowS ? [index] : []));
  const share = (at: number): number | null => {
    const points = windowAt(at);
    const all = points.reduce((sum, index) => sum + (requests[index] ?? 0), 0);
    const failed = points.reduce(
      (sum, index) => sum + ((errors[index] ?? 0) / 100) * (requests[index] ?? 0),
      0,
    );
    return all === 0 ? null : failed / all;
  };
  const slow = (at: number): number | null => {
    const known = windowAt(at).flatMap((index) => p99[index] ?? []);
    const ms = median(known);
    return ms === null ? null : ms / 1000;
  };
  const common = { service, instance: '', labels: '', times: times.map((time) => time * 1000) };
  return [
    ['errors', { ...common, values: times.map(share) }],
    ['p99', { ...common, values: times.map(slow) }],
  ];
};

const gaugeSeries = (
  service: string,
  { instance, gauges }: ServiceSummary,
  earlier: readonly [string, Series][],
): [string, Series][] => {
  const times = gauges.times.map((time) => Date.parse(time));
  return Object.entries(gauges.values).map(([name, values]) => {
    const [metric = '', labels] = name.split('{', 2);
    const now = { service, instance, labels: labels === undefined ? '' : `{${labels}`, times, values };
    const before = earlier.find(([other, one]) => other === metric && one.labels === now.labels)?.[1];
    return [metric, before === undefined ? now : addEarlier(now, before)];
  });
};

const askGateway = async (): Promise<number | undefined> => {
  const begun = performance.now();
  const answer = await fetch('/healthz', { credentials: 'omit', cache: 'no-store' }).catch(() => undefined);
  return answer?.ok ? performance.now() - begun : undefined;
};

/** Reads one service again and again. */
const createReader = (session: Session, name: string) => {
  const known = new Map<string, { at: number; summary: ServiceSummary; gauges: [string, Series][] }>();
  const up: { times: number[]; values: number[] } = { times: [], values: [] };
  return async (): Promise<{ series: [string, Series][]; error: unknown }> => {
    const now = Date.now();
    const readiness = await askReadiness(name);
    // A service that answers is up, also while it is not ready.
    if (readiness.isUp !== undefined) {
      up.times.push(now);
      up.values.push(readiness.isUp ? 1 : 0);
    }
    let error: unknown;
    try {
      const summary = await session.ask<ServiceSummary>(`/docs/ops/summary/${name}`);
      const gauges = gaugeSeries(name, summary, known.get(summary.instance)?.gauges ?? []);
      known.set(summary.instance, { at: now, summary, gauges });
    } catch (refused) {
      error = refused;
    }
    for (const [instance, { at }] of known) if (at < now - keepMs) known.delete(instance);
    const processes = [...known.values()];
    const series: [string, Series][] = [
      ['up', { service: name, instance: name, labels: '', ...structuredClone(up) }],
      ...trafficSeries(
        name,
        processes.map(({ summary }) => summary),
      ),
      ...processes.flatMap(({ gauges }) => gauges),
    ];
    return { series, error };
  };
};

/** How many services are ready now. Answered within seconds also while a database is away. */
export const countReady = async (): Promise<number> =>
  (await Promise.all(SERVICES.map(({ name }) => askReadiness(name)))).filter(isReady).length;

/** A function that reads the health of gateway and services now. */
export const createHealthReader = (session: Session): (() => Promise<Health>) => {
  const readers = SERVICES.map(({ name }) => createReader(session, name));
  return async () => {
    const [gatewayMs, ...services] = await Promise.all([askGateway(), ...readers.map((read) => read())]);
    const series = Map.groupBy(
      services.flatMap((service) => service.series),
      ([metric]) => metric,
    );
    const errors = services.map(({ error }) => error);
    return {
      gatewayMs,
      series: new Map([...series].map(([metric, all]) => [metric, all.map(([, one]) => one)])),
      error: errors.every((error) => error !== undefined) ? errors[0] : undefined,
    };
  };
};
