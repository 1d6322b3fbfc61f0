import { signal } from '@preact/signals';
import type { FiringAlert } from '@platform/service-kit/prometheus';
import { fetchReadiness, type Readiness as State } from '../readiness.ts';
import { inCell } from './cells.ts';
import type { Session } from './session.ts';
import { combine, type Summary } from './traffic-data.ts';

/** Data that a process reports about itself: response of `/docs/ops/summary/<service>`. */
export interface ProcessSummary extends Summary {
  health: { ready: boolean; degraded: boolean; checks: Record<string, 'ok' | 'degraded' | 'down' | 'off'> };
  /** Values of its gauges by series, such as `webhooks_spool_bytes`; null if there is no number. */
  values: Record<string, number | null>;
}

/** Whether a service accepts requests. */
export interface Readiness {
  service: string;
  state: State;
}

/** The readiness of the services, which the health strip reads for all parts of the page; initially empty. */
export const readiness = signal<readonly Readiness[]>([]);

/** Data of gateway, services and Prometheus at one moment. */
export interface Values {
  /** Response time of the gateway in ms; undefined if it did not respond. */
  gatewayMs: number | undefined;
  /** Summaries of the processes of each service from the last three minutes. */
  summaries: Map<string, ProcessSummary[]>;
  /** null if Prometheus does not respond; empty without Prometheus. */
  alerts: FiringAlert[] | null;
  /** Error if no service sent a summary, such as a missing scope. */
  error: unknown;
}

/** State of the platform at one moment. */
export interface Health extends Values {
  readiness: readonly Readiness[];
}

/** Share of failed requests of all services in the last five minutes; undefined if there were no requests. */
export const errorShare = ({ summaries }: Values): number | undefined => {
  let [requests, failed] = [0, 0];
  for (const processes of summaries.values()) {
    const traffic = combine(processes);
    const start = (traffic.times.at(-1) ?? 0) - 300;
    for (const [index, time] of traffic.times.entries()) {
      const count = time > start ? (traffic.requests[index] ?? 0) : 0;
      requests += count;
      failed += count * ((traffic.errors[index] ?? 0) / 100);
    }
  }
  return requests === 0 ? undefined : failed / requests;
};

/** Measures the response time of the gateway in ms; undefined if it does not respond. */
const measureGateway = async (): Promise<number | undefined> => {
  const start = performance.now();
  const response = await fetch('/healthz', { credentials: 'omit', cache: 'no-store' }).catch(() => undefined);
  return response?.ok ? performance.now() - start : undefined;
};

/** Reads the firing alerts. All services use the same Prometheus, so the first response is enough. */
const readAlerts = async (session: Session): Promise<FiringAlert[] | null> => {
  for (const { name } of SERVICES) {
    const response = await session
      .ask<{ alerts: FiringAlert[] | null }>(`/docs/ops/alerts/${name}`)
      .catch(() => undefined);
    if (response !== undefined) return response.alerts;
  }
  return [];
};

/**
 * Creates a function that reads the summaries of a service's processes. Each request reaches only one process, so the result
 * includes the summaries of other processes from the last `keepMs`. The newest summary is the last one.
 */
export const createReader = (session: Session, name: string, keepMs: number) => {
  const summariesByInstance = new Map<string, { at: number; summary: ProcessSummary }>();
  return async (): Promise<{ summaries: ProcessSummary[]; error: unknown }> => {
    const now = Date.now();
    let error: unknown;
    try {
      const summary = await session.ask<ProcessSummary>(`/docs/ops/summary/${name}`);
      // Deleted first, because a Map keeps the position of an existing key.
      summariesByInstance.delete(summary.instance);
      summariesByInstance.set(summary.instance, { at: now, summary });
    } catch (cause) {
      error = cause;
    }
    for (const [instance, { at }] of summariesByInstance)
      if (at < now - keepMs) summariesByInstance.delete(instance);
    return { summaries: [...summariesByInstance.values()].map(({ summary }) => summary), error };
  };
};

/** Reads the readiness of the deployed services. Responds within seconds even if a database is unavailable. */
export const readReadiness = async (): Promise<Readiness[]> => {
  const states = SERVICES.map(async ({ name: service }) => ({
    service,
    state: await fetchReadiness(service, inCell(`/docs/status/${service}`)),
  }));
  return (await Promise.all(states)).flatMap(({ service, state }) => (state ? [{ service, state }] : []));
};

/** Creates a function that reads the current data of gateway, services and Prometheus. */
export const createHealthReader = (session: Session): (() => Promise<Values>) => {
  const readers = SERVICES.map(({ name }) => ({ name, read: createReader(session, name, 180_000) }));
  return async () => {
    const [gatewayMs, alerts, results] = await Promise.all([
      measureGateway(),
      readAlerts(session),
      Promise.all(readers.map(async ({ name, read }) => ({ name, ...(await read()) }))),
    ]);
    const errors = results.map(({ error }) => error);
    return {
      gatewayMs,
      alerts,
      summaries: new Map(results.map(({ name, summaries }) => [name, summaries])),
      error: errors.every((error) => error !== undefined) ? errors[0] : undefined,
    };
  };
};
