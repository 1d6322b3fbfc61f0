import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { openProvider, type ProviderOptions } from './provider.ts';
import { traceCalls, traceRequests } from './requests.ts';
import { traceStatements } from './statements.ts';

/** The spans of a traced process, and the ids for its log lines. */
export type Tracing = ReturnType<typeof startTracing>;

/** Starts the OpenTelemetry SDK; imported only by processes that are traced. */
export const startTracing = (options: ProviderOptions) => {
  const provider = openProvider(options);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const tracer = provider.getTracer('@platform/tracing');
  traceStatements(tracer);
  const stopCalls = traceCalls(tracer, new URL(options.endpoint).host);

  /** Runs `work` in a span. Outside of a trace, it starts a new trace if `always` is set, else it creates no span. */
  const inSpan = <T>(name: string, always: boolean, work: () => Promise<T>): Promise<T> => {
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
    /** Puts each request into a span, as a child of its `traceparent`. */
    requests: traceRequests(tracer),
    inSpan,
    /** Ids of the active span in hex, for log lines; empty outside of a span. */
    fields: (): object => {
      const active = trace.getActiveSpan()?.spanContext();
      return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      stopCalls();
      // Sends the remaining spans; an unreachable collector must not make the shutdown fail.
      await provider.shutdown().catch(() => undefined);
    },
  };
};
