import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { openProvider, type ProviderOptions } from '@platform/tracing/provider';
import type { GatewayRequest } from './receiver.ts';

/** Opens an exporter that sends the spans of the gateway to a collector. */
export const openSpans = (options: Omit<ProviderOptions, 'ids' | 'service'>) => {
  // Ids of the current request: the SDK calls the id generators while it starts a span.
  let ids = { trace: '', span: '' };
  const provider = openProvider({
    ...options,
    service: 'gateway',
    ids: { generateTraceId: () => ids.trace, generateSpanId: () => ids.span },
  });
  const tracer = provider.getTracer('@platform/gateway-telemetry');
  return {
    /** Exports a request as a span. The service received the id of this span as its parent. */
    record: (request: GatewayRequest): void => {
      ids = request;
      const callerContext = { traceId: request.trace, spanId: request.parent, traceFlags: 1, isRemote: true };
      const parent = request.parent === '' ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, callerContext);
      const attributes = {
        'http.request.method': request.method,
        'http.response.status_code': request.status,
        'request.id': request.requestId,
        'peer.service': request.service,
      };
      const startTime = (request.end - request.seconds) * 1000;
      const name = `${request.method} ${request.service || 'gateway'}`;
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes, startTime }, parent);
      if (request.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(request.end * 1000);
    },
    // The process stops even if the collector does not accept the last spans.
    [Symbol.asyncDispose]: () => provider.shutdown().catch(() => undefined),
  };
};
