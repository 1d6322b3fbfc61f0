import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
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

/** Probes and scrapes arrive every few seconds; their traces would hide the others. */
const untraced = new Set(['/livez', '/readyz', '/metrics']);

/** The service kit stores the request id in the request and the route template in the response. */
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
 * Creates one span for each request, named by method and route template. The span has no path, no query and no header
 * except the request id, because they may contain credentials.
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

/** A request of `fetch`, as published on its diagnostics channels. */
interface FetchRequest {
  method: string;
  origin: string;
  addHeader(name: string, value: string): void;
}

type Channels = Record<string, (message: unknown) => void>;

/**
 * Creates spans for outgoing requests, by `fetch` and by node:http, and adds `traceparent` to them. A span has only
 * method and host, because paths and queries may contain credentials. Ignores requests outside of a span and those to
 * `collector` (a host). Returns a function that stops the tracing.
 */
export const traceCalls = (tracer: Tracer, collector: string): (() => void) => {
  const spans = new WeakMap<object, Span>();

  const begin = (
    request: object,
    method: string,
    host: string,
    setHeader: (name: string, value: string) => void,
  ) => {
    if (host === collector || trace.getActiveSpan() === undefined) return;
    const attributes = { 'http.request.method': method, 'server.address': host };
    const span = tracer.startSpan(`${method} ${host}`, { kind: SpanKind.CLIENT, attributes });
    spans.set(request, span);
    propagation.inject(trace.setSpan(context.active(), span), undefined, {
      set: (_carrier, name, value) => setHeader(name, value),
    });
  };
  const end = (request: object, status?: number): void => {
    const span = spans.get(request);
    if (span === undefined) return;
    spans.delete(request);
    if (status !== undefined) span.setAttribute('http.response.status_code', status);
    if (status === undefined || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };

  const channels: Channels = {
    'undici:request:create': (message) => {
      const { request } = message as { request: FetchRequest };
      begin(request, request.method, new URL(request.origin).host, (name, value) =>
        request.addHeader(name, value),
      );
    },
    'undici:request:headers': (message) => {
      const { request, response } = message as { request: FetchRequest; response: { statusCode: number } };
      end(request, response.statusCode);
    },
    'undici:request:error': (message) => end((message as { request: FetchRequest }).request),
    'http.client.request.created': (message) => {
      const { request } = message as { request: ClientRequest };
      begin(request, request.method, String(request.getHeader('host') ?? request.host), (name, value) =>
        request.setHeader(name, value),
      );
    },
    'http.client.response.finish': (message) => {
      const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
      end(request, response.statusCode);
    },
    'http.client.request.error': (message) => end((message as { request: ClientRequest }).request),
  };
  for (const [name, listener] of Object.entries(channels)) subscribe(name, listener);
  return () => {
    for (const [name, listener] of Object.entries(channels)) unsubscribe(name, listener);
  };
};
