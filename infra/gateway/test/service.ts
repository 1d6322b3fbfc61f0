import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { portOf } from './gateway.ts';

/** A request as the stand-in of a service got it. */
export interface Received {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Field names as they came, to see what is there twice. */
  names: string[];
  body: Buffer;
  /** Number of the connection, from 1. */
  connection: number;
}

/** The service behind the gateway in the tests. */
export interface Service extends AsyncDisposable {
  place: string;
  port: number;
  received: Received[];
  openConnections: () => Promise<number>;
}

type Answer = (received: Received, response: ServerResponse) => void;

const echo: Answer = ({ method, url, headers, body }, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ method, url, headers, body: body.toString('base64') }));
};

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** Serves with the listener on a port of 127.0.0.1; closing breaks what is open. */
export const listen = async (
  listener: RequestListener,
  port = 0,
): Promise<{ port: number; openConnections: () => Promise<number> } & AsyncDisposable> => {
  // As the services are configured: longer than the gateway keeps a connection.
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

/** A service that remembers every request, and returns it as its answer unless another answer is given. */
export const startService = async (answer: Answer = echo, port = 0): Promise<Service> => {
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
        answer(received[received.length - 1] as Received, response);
      },
      () => response.destroy(),
    );
  }, port);
  return {
    place: `127.0.0.1:${server.port}`,
    port: server.port,
    received,
    openConnections: server.openConnections,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};
