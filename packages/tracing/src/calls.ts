import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Span,
  type Tracer,
} from '@opentelemetry/api';

/** A request of `fetch`, as its diagnostics channels publish it. */
interface FetchRequest {
  method: string;
  origin: string;
  addHeader(name: string, value: string): void;
}

type Channels = Record<string, (message: unknown) => void>;

/**
 * Creates spans for outgoing requests, by `fetch` and by node:http, and adds `traceparent` to them. A span has only
 * method and host, because paths and queries may hold credentials. Ignores requests outside of a span and those to
 * `collector` (a host). Returns a function that stops it.
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
