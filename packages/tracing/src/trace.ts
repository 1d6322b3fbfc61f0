import type { Sql } from 'postgres';
import type { Tracing } from './tracing.ts';

export interface TraceEnv {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  OTEL_TRACES_SAMPLER_ARG?: number | undefined;
}

// One for the process, because libraries create spans without being given an argument.
let tracing: Tracing | undefined;

/**
 * Sends spans to OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP, JSON; `/v1/traces` is added). Without
 * it nothing is loaded, wrapped or looked at, and the answer is undefined.
 */
export const openTracing = async (service: string, env: TraceEnv): Promise<Tracing | undefined> => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = env;
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import('./spans.ts');
  tracing = startTracing({
    service,
    endpoint,
    headers: env.OTEL_EXPORTER_OTLP_HEADERS ?? '',
    ratio: env.OTEL_TRACES_SAMPLER_ARG ?? 1,
  });
  return tracing;
};

/** Does work that no request waits for in a span of its own; `name` is one of few. */
export const inSpan = <T>(name: string, work: () => Promise<T>): Promise<T> =>
  tracing ? tracing.inSpan(name, true, work) : work();

/** Has the transactions of a pool stand in a span around their statements. */
export const spanTransactions = (sql: Sql): Sql => {
  const trace = tracing;
  if (trace === undefined) return sql;
  const { begin } = sql;
  const spanned = (...given: Parameters<typeof begin>) =>
    trace.inSpan('transaction', false, () => begin(...given));
  return Object.assign(sql, { begin: spanned });
};
