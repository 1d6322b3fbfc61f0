import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { openProvider, type ProviderOptions } from '@platform/tracing/provider';
import { z } from 'zod';

const spanId = z.string().regex(/^[0-9a-f]{16}$/);

/** What nginx tells of one request (infra/gateway/src/traces.ts). */
const Told = z.object({
  trace: z.string().regex(/^[0-9a-f]{32}$/),
  span: spanId,
  parent: z.union([spanId, z.literal('')]),
  method: z.string(),
  service: z.string(),
  requestId: z.string(),
  status: z.number(),
  /** Seconds since 1970, and of the request. */
  end: z.number(),
  seconds: z.number(),
});

const parse = (message: Buffer): z.output<typeof Told> | undefined => {
  const text = message.toString('utf8');
  try {
    return Told.safeParse(JSON.parse(text.slice(text.indexOf('{')))).data;
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
  /** Told of what is no request. */
  onNonsense(): void;
}

/** Takes nginx's datagrams and sends each on as the span whose id the service was given as its parent. */
export const startReceiver = async ({
  host,
  port,
  onNonsense,
  ...options
}: ReceiverOptions): Promise<Receiver> => {
  // The SDK asks for the ids of a span while it starts it.
  let ids = { trace: '', span: '' };
  const provider = openProvider({
    ...options,
    service: 'gateway',
    ids: { generateTraceId: () => ids.trace, generateSpanId: () => ids.span },
  });
  const tracer = provider.getTracer('@platform/gateway-spans');
  const socket = createSocket('udp4');
  socket.on('message', (message) => {
    const told = parse(message);
    if (told === undefined) return onNonsense();
    ids = told;
    const caller = { traceId: told.trace, spanId: told.parent, traceFlags: 1, isRemote: true };
    const from = told.parent === '' ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, caller);
    const attributes = {
      'http.request.method': told.method,
      'http.response.status_code': told.status,
      'request.id': told.requestId,
      'peer.service': told.service,
    };
    const startTime = (told.end - told.seconds) * 1000;
    const name = `${told.method} ${told.service || 'gateway'}`;
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes, startTime }, from);
    if (told.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(told.end * 1000);
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
