import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Proxy extends AsyncDisposable {
  url: string;
  /** Closes all connections and refuses new ones. */
  cut(): void;
  /** Keeps connections open but stops forwarding data. */
  freeze(): void;
  heal(): void;
}

/** A TCP proxy that can be cut, so that one instance loses a server that others still reach. */
export const startProxy = async (target: string): Promise<Proxy> => {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let state: 'open' | 'cut' | 'frozen' = 'open';
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((client) => {
    track(client);
    if (state === 'cut') client.destroy();
    if (state !== 'open') return;
    const upstream = connect(Number(port), hostname);
    track(upstream);
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (chunk) => {
        if (state === 'open') to.write(chunk);
      });
      from.on('close', () => to.destroy());
    };
    pass(client, upstream);
    pass(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      state = 'cut';
      drop();
    },
    freeze: () => {
      state = 'frozen';
    },
    heal: () => {
      state = 'open';
      drop();
    },
    [Symbol.asyncDispose]: async () => {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
};
