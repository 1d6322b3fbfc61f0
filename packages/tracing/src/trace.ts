import type { Sql } from 'postgres';
import type { TraceEnv } from './provider.ts';
import type { Tracing } from './spans.ts';

// One per process, because libraries that create spans do not receive it as a parameter.
let tracing: Tracing | undefined;

/**
 * Starts to send spans to OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP, JSON; `/v1/traces` is added). Without that
 * setting it loads and wraps nothing and returns undefined.
 */
export const openTracing = async (service: string, env: TraceEnv): Promise<Tracing | undefined> => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = env;
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import('./spans.ts');
  tracing = startTracing({ service, endpoint, env });
  return tracing;
};

/** Runs a background job in a span of its own. `name` must not contain values, so that there are few names. */
export const inSpan = <T>(name: string, work: () => Promise<T>): Promise<T> =>
  tracing ? tracing.inSpan(name, true, work) : work();

/** Gives each transaction of a pool a span around its statements. */
export const spanTransactions = (sql: Sql): Sql => {
  const current = tracing;
  if (current === undefined) return sql;
  const { begin } = sql;
  const beginInSpan = (...args: Parameters<typeof begin>) =>
    current.inSpan('transaction', false, () => begin(...args));
  return Object.assign(sql, { begin: beginInSpan });
};
