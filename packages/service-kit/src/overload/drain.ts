import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, Server as TcpServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { endUnreadRequests } from './connections.ts';

/**
 * How long the process keeps idle connections and refuses new ones after the listener closed. The gateway closes its idle
 * connections after 1 s, on a busy machine after 2 s. If it sent a POST on a connection that was just closed, the client
 * would get 502.
 */
const maxRefusingMs = 2500;
/** How long requests may still arrive after the listener closed. */
const maxUnreadMs = 3000;
/** The fraction of the drain in which each response closes its connection. */
const closingShare = 0.5;

/** The listener is closed when accepting a connection took at most `quickMs`, plus `extraMs` for each second of trying. */
const quickMs = 0.1;
const extraMs = 4;

/** Replaces a wildcard address, to which one cannot connect, by the loopback address. */
const reachable = (address: string): string => ({ '::': '::1', '0.0.0.0': '127.0.0.1' })[address] ?? address;

/**
 * Connects to the server. Calls `onAccepted` with the time this took as soon as the server has accepted the connection, or
 * connecting has failed; then resolves.
 */
const acceptOwnConnection = async (server: Server, onAccepted: (ms: number) => void): Promise<void> => {
  const { address, port } = server.address() as AddressInfo;
  const start = performance.now();
  const client = connect(port, reachable(address));
  await new Promise<void>((resolve) => {
    const onConnection = (socket: Socket): void => {
      if (socket.remotePort === client.localPort) finish();
    };
    let isFinished = false;
    const finish = (): void => {
      if (isFinished) return;
      isFinished = true;
      server.off('connection', onConnection);
      onAccepted(performance.now() - start);
      client.destroy();
      resolve();
    };
    server.prependListener('connection', onConnection);
    // Connecting fails if the server has reached its maximum number of connections.
    client.on('error', finish).on('close', finish);
  });
};

/**
 * Stops listening right after accepting a connection of its own. Closing a listener resets the connections that the kernel
 * holds for it, and a proxy does not repeat a POST that it has started to send. The kernel hands out connections in order, so
 * once this one is accepted, all earlier ones are. Those that arrive between it and the close are reset, so it retries until
 * accepting is quick; in a busy process the limit grows with the time of trying.
 */
const stopListening = async (server: Server): Promise<void> => {
  const start = performance.now();
  while (server.listening)
    await acceptOwnConnection(server, (ms) => {
      // Unlike close() of node:http, this keeps idle connections open, on which a proxy may be sending a request.
      const seconds = (performance.now() - start) / 1000;
      if (ms <= quickMs + extraMs * seconds) TcpServer.prototype.close.call(server);
    });
};

/**
 * Closes a server without failing a request. For `drainMs` it still accepts connections. In the first half each response
 * closes its connection, so that proxies connect to other replicas. In the second half connections are kept, so that a proxy
 * that has one does not open another just when the listener closes. After that, new connections are refused and each response
 * closes its connection. Requests that have not arrived completely three seconds later get 503. Resolves when the running
 * requests are answered, at least 2.5 s (or `drainMs`) after the listener closed.
 */
export const drain = async (server: Server, drainMs: number): Promise<void> => {
  let closing = true;
  server.prependListener('request', (_req, res) => {
    if (closing) res.setHeader('Connection', 'close');
  });
  await sleep(drainMs * closingShare);
  closing = false;
  await sleep(drainMs * (1 - closingShare));
  const closed = once(server, 'close');
  await stopListening(server);
  closing = true;
  const refusingMs = Math.min(drainMs, maxRefusingMs);
  // For Node.js a connection that never sent a request is not idle, so it needs this timeout; it gets 408.
  server.headersTimeout = Math.max(1, refusingMs);
  // Waits even if there are no connections, so that the gateway excludes this address before it disappears (docs/adr/0170).
  await sleep(refusingMs);
  const unreadUntil = performance.now() + maxUnreadMs - refusingMs;
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    if (performance.now() > unreadUntil) endUnreadRequests(server);
  }, 50);
  await closed;
  clearInterval(sweep);
};
