import { hostname } from 'node:os';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { traceCalls } from './trace-calls.ts';
import { traceStatements } from './trace-statements.ts';
import { requestSpans } from './trace-requests.ts';
import type { Tracing } from './tracing.ts';

interface TraceOptions {
  service: string;
  /** Without `/v1/traces`. */
  endpoint: string;
  /** `name=value,…`, percent-encoded, as OpenTelemetry has it. */
  headers: string;
  /** Share of the traces that are kept, from 0 to 1. */
  ratio: number;
}

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]];
    }),
  );

/** Starts the SDK: loaded only by processes that are traced. */
export const startTracing = ({ service, endpoint, headers, ratio }: TraceOptions): Tracing => {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, headers: headersOf(headers), timeoutMillis: 5000 });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.instance.id': hostname() }),
    // By the id of the trace alone, so that everybody comes to the same answer and no caller decides it.
    sampler: new TraceIdRatioBasedSampler(ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000 })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const tracer = provider.getTracer('@platform/service-kit');
  traceStatements(tracer);
  const stopCalls = traceCalls(tracer, new URL(url).host);

  const inSpan: Tracing['inSpan'] = (name, always, work) => {
    if (!always && trace.getActiveSpan() === undefined) return work();
    return tracer.startActiveSpan(name, { kind: SpanKind.INTERNAL }, async (span) => {
      try {
        return await work();
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  };
  return {
    ...requestSpans(tracer),
    inSpan,
    fields: () => {
      const active = trace.getActiveSpan()?.spanContext();
      return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
    },
    [Symbol.asyncDispose]: async () => {
      stopCalls();
      // What is left goes out now; where nobody takes it, that must not hold up the end.
      await provider.shutdown().catch(() => undefined);
    },
  };
};
