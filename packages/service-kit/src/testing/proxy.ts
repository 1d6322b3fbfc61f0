import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A connection through a proxy. */
export interface ProxiedConnection {
  /** Sends bytes to the target. */
  send(data: Buffer): void;
  /** Closes both sides. */
  hangUp(): void;
}

interface ProxyOptions {
  /** Called for each connection; returns a handler for the client's data. Default: forwards the data. */
  onConnect?: (connection: ProxiedConnection) => (data: Buffer) => void;
  /** Called with each piece of a response. If it returns true, the piece is dropped and the connection closed. */
  isLost?: (answer: Buffer) => boolean;
}

/** A TCP proxy in front of PostgreSQL or Redis that can simulate network faults. */
export interface Proxy extends AsyncDisposable {
  /** The target's URL with the address of the proxy. */
  url: string;
  /** Bytes that clients have sent through the proxy. */
  sentBytes(): number;
  /** Closes all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Stops forwarding but keeps all connections open. */
  freeze(): void;
  /** Stops forwarding on the connections that are open now. New connections work. */
  freezeOpen(): void;
  /** Forwards requests but no responses. */
  withholdAnswers(): void;
  /** Closes all connections; new ones work. */
  heal(): Promise<void>;
}

export const startProxy = async (
  target: string,
  { isLost = () => false, onConnect = ({ send }) => send }: ProxyOptions = {},
): Promise<Proxy> => {
  const url = new URL(target);
  const { hostname, port } = url;
  const open = new Set<Socket>();
  const frozen = new WeakSet<Socket>();
  let state: 'works' | 'frozen' | 'withholds answers' = 'works';
  let sentBytes = 0;

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const hangUp = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      // A process that is killed resets its connections; 'close' follows.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        if (!frozen.has(socket)) hangUp();
      });
    }
    const onClientData = onConnect({ send: (data) => void upstream.write(data), hangUp });
    client.on('data', (data) => {
      sentBytes += data.length;
      if (state !== 'frozen' && !frozen.has(client)) onClientData(data);
    });
    upstream.on('data', (data) => {
      if (state !== 'works' || frozen.has(client)) return;
      if (isLost(data)) hangUp();
      else client.write(data);
    });
  });
  const listen = async (listenPort: number): Promise<void> => {
    server.listen(listenPort, '127.0.0.1');
    await once(server, 'listening');
  };
  // Uses a port below those of outgoing connections, which could otherwise take it while the proxy does not listen.
  const listenAnywhere = (): Promise<void> => listen(randomInt(7_000, 8_200)).catch(listenAnywhere);
  await listenAnywhere();
  url.port = String((server.address() as AddressInfo).port);

  const closeAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    closeAll();
    await once(server, 'close');
  };
  return {
    url: url.href,
    sentBytes: () => sentBytes,
    cut,
    freeze: () => {
      state = 'frozen';
    },
    freezeOpen: () => {
      for (const socket of open) frozen.add(socket);
    },
    withholdAnswers: () => {
      state = 'withholds answers';
    },
    heal: async () => {
      state = 'works';
      closeAll();
      if (!server.listening) await listen(Number(url.port));
    },
    [Symbol.asyncDispose]: cut,
  };
};
