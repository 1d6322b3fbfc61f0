import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { openProvider, type ProviderOptions } from '@platform/tracing/provider';
import { z } from 'zod';

const spanId = z.string().regex(/^[0-9a-f]{16}$/);

/** A request as nginx sends it (infra/gateway/nginx/log.conf). */
const Datagram = z.object({
  trace: z.string().regex(/^[0-9a-f]{32}$/),
  span: spanId,
  parent: z.union([spanId, z.literal('')]),
  method: z.string(),
  service: z.string(),
  requestId: z.string(),
  status: z.number(),
  /** End of the request in seconds since 1970, and its duration. */
  end: z.number(),
  seconds: z.number(),
});

const parse = (message: Buffer): z.output<typeof Datagram> | undefined => {
  const text = message.toString('utf8');
  try {
    return Datagram.safeParse(JSON.parse(text.slice(text.indexOf('{')))).data;
  } catch {
    return undefined;
  }
};

export interface Receiver extends AsyncDisposable {
  port: number;
}

interface ReceiverOptions extends Omit<ProviderOptions, 'ids' | 'service'> {
  host: string;
  port: number;
  /** Called for a datagram that is not a request. */
  onInvalid(): void;
}

/** Receives nginx's datagrams and exports each as the span whose id the service got as its parent. */
export const startReceiver = async ({
  host,
  port,
  onInvalid,
  ...options
}: ReceiverOptions): Promise<Receiver> => {
  // The SDK requests the ids of a span while it starts it.
  let ids = { trace: '', span: '' };
  const provider = openProvider({
    ...options,
    service: 'gateway',
    ids: { generateTraceId: () => ids.trace, generateSpanId: () => ids.span },
  });
  const tracer = provider.getTracer('@platform/gateway-spans');
  const socket = createSocket('udp4');
  socket.on('message', (message) => {
    const received = parse(message);
    if (received === undefined) return onInvalid();
    ids = received;
    const caller = { traceId: received.trace, spanId: received.parent, traceFlags: 1, isRemote: true };
    const from = received.parent === '' ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, caller);
    const attributes = {
      'http.request.method': received.method,
      'http.response.status_code': received.status,
      'request.id': received.requestId,
      'peer.service': received.service,
    };
    const startTime = (received.end - received.seconds) * 1000;
    const name = `${received.method} ${received.service || 'gateway'}`;
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes, startTime }, from);
    if (received.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(received.end * 1000);
  });
  socket.bind(port, host);
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await provider.shutdown().catch(() => undefined);
    },
  };
};
