import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { z } from 'zod';

const spanId = z.string().regex(/^[0-9a-f]{16}$/);

/** A request as nginx sends it (infra/gateway/nginx/log.conf). */
const GatewayRequest = z.object({
  trace: z.string().regex(/^[0-9a-f]{32}$/),
  span: spanId,
  parent: z.union([spanId, z.literal('')]),
  method: z.string(),
  service: z.string(),
  /** Path of the route, as in services.yaml; empty for an unknown address. */
  route: z.string(),
  requestId: z.string(),
  status: z.number(),
  answeredBy: z.enum(['service', 'nginx']),
  /** Status of each attempt: `502, 200`. */
  upstreamStatus: z.string(),
  /** End of the request in seconds since 1970, and its duration. */
  end: z.number(),
  seconds: z.number(),
});
export type GatewayRequest = z.output<typeof GatewayRequest>;

/** Parses a syslog message of nginx: a header and the request as JSON. */
const parse = (message: Buffer): GatewayRequest | undefined => {
  const text = message.toString('utf8');
  try {
    return GatewayRequest.safeParse(JSON.parse(text.slice(text.indexOf('{')))).data;
  } catch {
    return undefined;
  }
};

interface Handlers {
  onRequest(request: GatewayRequest): void;
  /** Called for a datagram that does not describe a request; any program that reaches the port can send one. */
  onInvalid(): void;
}

/** Receives nginx's datagrams on a UDP port of a local address; port 0 selects a free one. */
export const startReceiver = async (port: number, address: string, { onRequest, onInvalid }: Handlers) => {
  const socket = createSocket('udp4');
  socket.on('message', (message) => {
    const request = parse(message);
    if (request === undefined) onInvalid();
    else onRequest(request);
  });
  socket.bind(port, address);
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
};
