import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { openProvider, type ProviderOptions } from './provider.ts';
import { traceCalls } from './calls.ts';
import { traceStatements } from './statements.ts';
import { traceRequests } from './requests.ts';
import type { Tracing } from './tracing.ts';

/** Starts the OpenTelemetry SDK; imported only by processes that are traced. */
export const startTracing = (options: ProviderOptions): Tracing => {
  const provider = openProvider(options);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const tracer = provider.getTracer('@platform/tracing');
  traceStatements(tracer);
  const stopCalls = traceCalls(tracer, new URL(options.endpoint).host);

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
    requests: traceRequests(tracer),
    inSpan,
    fields: () => {
      const active = trace.getActiveSpan()?.spanContext();
      return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
    },
    [Symbol.asyncDispose]: async () => {
      stopCalls();
      // Sends the remaining spans; a collector that is away must not delay the end of the process.
      await provider.shutdown().catch(() => undefined);
    },
  };
};
