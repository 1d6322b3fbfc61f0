import type { RequestListener } from 'node:http';

/** Settings with OpenTelemetry's names, described and checked in service-kit (`traceEnv`). */
export interface TraceEnv {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  OTEL_TRACES_SAMPLER?: 'traceidratio' | 'always_on' | 'always_off' | undefined;
  OTEL_TRACES_SAMPLER_ARG?: number | undefined;
}

/** Ids of the active span in hex, for log lines; empty outside of a span. */
export type TraceFields = { trace_id: string; span_id: string } | Record<string, never>;

/** What a traced process uses; undefined everywhere when tracing is off. */
export interface Tracing extends AsyncDisposable {
  /** Puts each request into a span, as a child of its `traceparent`. */
  requests(next: RequestListener): RequestListener;
  fields(): TraceFields;
  /** Runs `work` in a span. Outside of a trace it begins one when `always`, else there is no span. */
  inSpan<T>(name: string, always: boolean, work: () => Promise<T>): Promise<T>;
}
