import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** One connection through a proxy. */
export interface ProxiedConnection {
  /** Sends bytes to the target. */
  send(data: Buffer): void;
  /** Closes both sides. */
  hangUp(): void;
}

interface ProxyOptions {
  /** Called for each connection; the result takes what the client sends. Forwards it if absent. */
  onConnect?: (connection: ProxiedConnection) => (data: Buffer) => void;
  /** Called with each piece of an answer; where it is true the connection is closed instead of forwarding the piece. */
  isLost?: (answer: Buffer) => boolean;
}

/** A TCP proxy in front of PostgreSQL or Redis, whose faults a test chooses. */
export interface Proxy extends AsyncDisposable {
  /** The target's URL by way of the proxy. */
  url: string;
  /** Bytes that clients have sent through it. */
  sentBytes(): number;
  /** Closes all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Forwards nothing any more, and closes nothing. */
  freeze(): void;
  /** The same for the connections that are open now; new ones work. */
  freezeOpen(): void;
  /** Forwards requests still, but no answers. */
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
    const take = onConnect({ send: (data) => void upstream.write(data), hangUp });
    client.on('data', (data) => {
      sentBytes += data.length;
      if (state !== 'frozen' && !frozen.has(client)) take(data);
    });
    upstream.on('data', (data) => {
      if (state !== 'works' || frozen.has(client)) return;
      if (isLost(data)) hangUp();
      else client.write(data);
    });
  });
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  // Below the ports of outgoing connections, one of which could take it while the proxy does not listen.
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
