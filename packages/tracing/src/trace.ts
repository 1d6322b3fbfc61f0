import type { Sql } from 'postgres';
import type { TraceEnv } from './provider.ts';
import type { Tracing } from './spans.ts';

// One for the process, because libraries create spans without being given an argument.
let tracing: Tracing | undefined;

/**
 * Starts to send spans to OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP, JSON; `/v1/traces` is added). Without it nothing
 * is loaded or wrapped, and it resolves with undefined.
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
  const spanned = (...given: Parameters<typeof begin>) =>
    current.inSpan('transaction', false, () => begin(...given));
  return Object.assign(sql, { begin: spanned });
};
