import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import type { Tracing } from './tracing.ts';

/** Probes and scrapes run every few seconds; their traces would hide the others. */
const unseen = new Set(['/livez', '/readyz', '/metrics']);

/** What the service kit notes on a request: its id, and the template of its route on the answer. */
type Known<T> = T & { id?: unknown; template?: string | undefined };

const name = (span: Span, method: string | undefined, route: string | undefined): void => {
  span.updateName(route === undefined ? `${method}` : `${method} ${route}`);
  if (route !== undefined) span.setAttribute('http.route', route);
};

/**
 * One span a request, named by method and route template. Neither the path nor the query nor a
 * header but the request's id gets into it: each may hold a credential.
 */
export const requestSpans = (tracer: Tracer): Pick<Tracing, 'requests' | 'naming'> => {
  const named = new WeakSet<Span>();

  const end = (span: Span, req: Known<IncomingMessage>, res: Known<ServerResponse>): void => {
    if (!named.has(span)) name(span, req.method, res.template);
    const { statusCode } = res;
    span.setAttribute('http.response.status_code', statusCode);
    const id: unknown = req.id ?? res.getHeader('x-request-id');
    if (typeof id === 'string') span.setAttribute('request.id', id);
    if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    else if (!res.writableFinished) span.setAttribute('error.type', 'client_gone');
    span.end();
  };
  return {
    requests: (next) => (req, res) => {
      if (unseen.has(req.url ?? '')) return next(req, res);
      const from = propagation.extract(ROOT_CONTEXT, req.headers);
      const attributes = { 'http.request.method': req.method ?? '' };
      const span = tracer.startSpan(req.method ?? '', { kind: SpanKind.SERVER, attributes }, from);
      res.once('close', () => end(span, req, res));
      context.with(trace.setSpan(from, span), () => next(req, res));
    },
    naming: (metrics) => ({
      ...metrics,
      // Those that go round Express know their route only here.
      record: (method, route, status, ms) => {
        const span = trace.getActiveSpan();
        if (span !== undefined && !named.has(span)) {
          named.add(span);
          name(span, method, route);
        }
        metrics.record(method, route, status, ms);
      },
    }),
  };
};
