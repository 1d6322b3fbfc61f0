import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
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

/** Probes and scrapes run every few seconds; their traces would hide the others. */
const untraced = new Set(['/livez', '/readyz', '/metrics']);

/** The service kit puts the request id on the request and the template of its route on the response. */
type Request = IncomingMessage & { id?: unknown };
type Response = ServerResponse & { template?: string | undefined };

const endSpan = (span: Span, { method, id }: Request, res: Response): void => {
  const { statusCode, template } = res;
  if (template !== undefined) {
    span.updateName(`${method} ${template}`);
    span.setAttribute('http.route', template);
  }
  span.setAttribute('http.response.status_code', statusCode);
  if (typeof id === 'string') span.setAttribute('request.id', id);
  if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  else if (!res.writableFinished) span.setAttribute('error.type', 'client_gone');
  span.end();
};

/**
 * Creates one span for each request, named by method and route template. It contains neither the path nor the query
 * nor a header except the request id, because each may hold a credential.
 */
export const traceRequests =
  (tracer: Tracer) =>
  (next: RequestListener): RequestListener =>
  (req, res) => {
    if (untraced.has(req.url ?? '')) return next(req, res);
    const parent = propagation.extract(ROOT_CONTEXT, req.headers);
    const attributes = { 'http.request.method': req.method ?? '' };
    const span = tracer.startSpan(req.method ?? '', { kind: SpanKind.SERVER, attributes }, parent);
    res.once('close', () => endSpan(span, req, res));
    context.with(trace.setSpan(parent, span), () => next(req, res));
  };
