import { signal } from '@preact/signals';
import type { FiringAlert } from '@platform/service-kit/prometheus';
import { askReadiness, type Readiness as State } from '../readiness.ts';
import { inCell } from './cells.ts';
import type { Session } from './session.ts';
import { combine, type Summary } from './traffic-data.ts';

/** What a process of a service says about itself: response of `/docs/ops/summary/<service>`. */
export interface Statement extends Summary {
  health: { ready: boolean; degraded: boolean; checks: Record<string, 'ok' | 'degraded' | 'down' | 'off'> };
  /** Values of its gauges by series, such as `webhooks_spool_bytes`; null where there is no number. */
  values: Record<string, number | null>;
}

/** Whether a service takes requests. */
export interface Readiness {
  service: string;
  state: State;
}

/** The readiness that the health line read last, which all parts of the page show; empty before. */
export const readiness = signal<readonly Readiness[]>([]);

/** What gateway, services and Prometheus say at one moment. */
export interface Values {
  /** How long the gateway took to answer, in ms; undefined when it did not. */
  gatewayMs: number | undefined;
  /** By service: what its processes said within the last three minutes. */
  statements: Map<string, Statement[]>;
  /** null when Prometheus does not answer; empty without one. */
  alerts: FiringAlert[] | null;
  /** Why no service said anything, such as a missing scope. */
  error: unknown;
}

/** What is known of the platform at one moment. */
export interface Health extends Values {
  readiness: readonly Readiness[];
}

/** Share of the requests of the last five minutes that failed, of all services; undefined when there were none. */
export const errorShare = ({ statements }: Values): number | undefined => {
  const recent = [...statements.values()].flatMap((processes) => {
    const { times, requests, errors } = combine(processes);
    return times.flatMap((time, at) =>
      time > (times.at(-1) ?? 0) - 300
        ? [{ requests: requests[at] ?? 0, errors: ((errors[at] ?? 0) / 100) * (requests[at] ?? 0) }]
        : [],
    );
  });
  const all = recent.reduce((sum, { requests }) => sum + requests, 0);
  return all === 0 ? undefined : recent.reduce((sum, { errors }) => sum + errors, 0) / all;
};

/** The time that the gateway takes to answer, in ms; undefined when it does not, which the strip shows. */
const askGateway = async (): Promise<number | undefined> => {
  const begun = performance.now();
  const answer = await fetch('/healthz', { credentials: 'omit', cache: 'no-store' }).catch(() => undefined);
  return answer?.ok ? performance.now() - begun : undefined;
};

/** All services know the same Prometheus, so the first that answers is enough. */
const askAlerts = async (session: Session): Promise<FiringAlert[] | null> => {
  for (const { name } of SERVICES) {
    const answer = await session
      .ask<{ alerts: FiringAlert[] | null }>(`/docs/ops/alerts/${name}`)
      .catch(() => undefined);
    if (answer !== undefined) return answer.alerts;
  }
  return [];
};

/**
 * A function that asks a service what its processes say. Each request reaches one of them, so what others said within
 * the last `keepMs` counts, too; the newest is the last.
 */
export const createReader = (session: Session, name: string, keepMs: number) => {
  const known = new Map<string, { at: number; statement: Statement }>();
  return async (): Promise<{ statements: Statement[]; error: unknown }> => {
    const now = Date.now();
    let error: unknown;
    try {
      const statement = await session.ask<Statement>(`/docs/ops/summary/${name}`);
      // As the newest one: Map keeps the place of a key.
      known.delete(statement.instance);
      known.set(statement.instance, { at: now, statement });
    } catch (refused) {
      error = refused;
    }
    for (const [instance, { at }] of known) if (at < now - keepMs) known.delete(instance);
    return { statements: [...known.values()].map(({ statement }) => statement), error };
  };
};

/** Which of the deployed services are ready now. Answered within seconds also while a database is away. */
export const readReadiness = async (): Promise<Readiness[]> => {
  const states = SERVICES.map(async ({ name: service }) => ({
    service,
    state: await askReadiness(service, inCell(`/docs/status/${service}`)),
  }));
  return (await Promise.all(states)).flatMap(({ service, state }) => (state ? [{ service, state }] : []));
};

/** A function that reads what gateway, services and Prometheus say now. */
export const createHealthReader = (session: Session): (() => Promise<Values>) => {
  const readers = SERVICES.map(({ name }) => ({ name, read: createReader(session, name, 180_000) }));
  return async () => {
    const [gatewayMs, alerts, answers] = await Promise.all([
      askGateway(),
      askAlerts(session),
      Promise.all(readers.map(async ({ name, read }) => ({ name, ...(await read()) }))),
    ]);
    const errors = answers.map(({ error }) => error);
    return {
      gatewayMs,
      alerts,
      statements: new Map(answers.map(({ name, statements }) => [name, statements])),
      error: errors.every((error) => error !== undefined) ? errors[0] : undefined,
    };
  };
};
