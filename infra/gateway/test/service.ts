import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { portOf } from './gateway.ts';

/** A request that the stand-in of a service received. */
export interface Received {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Field names as received, in which duplicates are visible. */
  names: string[];
  body: Buffer;
  /** Number of the connection, from 1. */
  connection: number;
}

/** A stand-in for a service behind the gateway. */
export interface Service extends AsyncDisposable {
  /** `host:port` for `upstreams`. */
  address: string;
  port: number;
  received: Received[];
  openConnections: () => Promise<number>;
}

type Respond = (received: Received, response: ServerResponse) => void;

const echo: Respond = ({ method, url, headers, body }, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ method, url, headers, body: body.toString('base64') }));
};

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** Starts an HTTP server on a port of 127.0.0.1. Disposal closes its open connections. */
export const listen = async (
  listener: RequestListener,
  port = 0,
): Promise<{ port: number; openConnections: () => Promise<number> } & AsyncDisposable> => {
  // The same as the services, and longer than the gateway keeps a connection.
  const server = createServer({ keepAliveTimeout: 75_000 }, listener);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server),
    openConnections: promisify(server.getConnections.bind(server)),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

/** Starts a service that records every request. By default it responds with the request. */
export const startService = async (respond: Respond = echo, port = 0): Promise<Service> => {
  const received: Received[] = [];
  const sockets: unknown[] = [];
  const server = await listen((request, response) => {
    if (!sockets.includes(request.socket)) sockets.push(request.socket);
    const connection = sockets.indexOf(request.socket) + 1;
    bodyOf(request).then(
      (body) => {
        const { method = '', url = '', rawHeaders } = request;
        const names = rawHeaders.filter((_, index) => index % 2 === 0);
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        );
        received.push({ method, url, headers, names, body, connection });
        respond(received[received.length - 1] as Received, response);
      },
      () => response.destroy(),
    );
  }, port);
  return {
    address: `127.0.0.1:${server.port}`,
    port: server.port,
    received,
    openConnections: server.openConnections,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};
