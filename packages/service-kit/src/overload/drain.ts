import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, Server as TcpServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { endUnreadRequests } from './connections.ts';

/**
 * How long the process refuses connections, and keeps those without a request, after the listener closed. The gateway
 * closes its own after 1 s, and on a busy machine a second later: a POST that it sends on a connection that was just closed
 * is answered with 502.
 */
const maxRefusingMs = 2500;
/** How long requests may go on arriving after the listener closed. */
const maxUnreadMs = 3000;
/** The part of the drain in which each answer closes its connection. */
const closingPart = 0.5;

/** The listener is closed when accepting took at most `quickMs`, and `slowerMs` more for each second of trying. */
const quickMs = 0.1;
const slowerMs = 4;

/** The loopback address where a wildcard address is not one to connect to. */
const reachable = (address: string): string => ({ '::': '::1', '0.0.0.0': '127.0.0.1' })[address] ?? address;

/** Connects to the server. Resolves when it has accepted the connection, or cannot, with the time that this took. */
const acceptOwnConnection = async (server: Server, onAccepted: (ms: number) => void): Promise<void> => {
  const { address, port } = server.address() as AddressInfo;
  const since = performance.now();
  const own = connect(port, reachable(address));
  await new Promise<void>((resolve) => {
    const onConnection = (socket: Socket): void => {
      if (socket.remotePort === own.localPort) end();
    };
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      server.off('connection', onConnection);
      onAccepted(performance.now() - since);
      own.destroy();
      resolve();
    };
    server.prependListener('connection', onConnection);
    // It fails when the server has all the connections that it may have.
    own.on('error', end).on('close', end);
  });
};

/**
 * Stops listening right after accepting a connection of its own. Closing a listener resets the connections that the
 * kernel holds for it, and a proxy does not repeat a POST that it has begun to send. The kernel hands connections out in
 * their order, so with this one all earlier ones have been accepted. Those that come between it and the close are reset,
 * so it is tried again until accepting is quick; a busy process has to be content with less.
 */
const stopListening = async (server: Server): Promise<void> => {
  const start = performance.now();
  while (server.listening)
    await acceptOwnConnection(server, (ms) => {
      // Unlike the close() of node:http this leaves idle connections open: a proxy may be sending a request on one.
      const seconds = (performance.now() - start) / 1000;
      if (ms <= quickMs + slowerMs * seconds) TcpServer.prototype.close.call(server);
    });
};

/**
 * Closes a server without failing a request. For `drainMs` it still accepts connections, and each answer closes its own,
 * so that proxies connect to other replicas. In the second half connections are kept again: a proxy that has some opens
 * no new one in the moment when the listener closes. From then on connections are refused, and each answer closes its
 * connection. Requests that have not arrived three seconds later get 503. Resolves at least 2.5 s (or `drainMs`) after the
 * listener closed, when the running requests are answered.
 */
export const drain = async (server: Server, drainMs: number): Promise<void> => {
  let closing = true;
  server.prependListener('request', (_req, res) => {
    if (closing) res.setHeader('Connection', 'close');
  });
  await sleep(drainMs * closingPart);
  closing = false;
  await sleep(drainMs * (1 - closingPart));
  const closed = once(server, 'close');
  await stopListening(server);
  closing = true;
  const refusingMs = Math.min(drainMs, maxRefusingMs);
  // A connection that has not sent the head of a request is not idle for Node.js: it gets 408.
  server.headersTimeout = Math.max(1, refusingMs);
  // Even without connections, so that a gateway excludes this address before it is gone (docs/adr/0170).
  await sleep(refusingMs);
  const unreadUntil = performance.now() + maxUnreadMs - refusingMs;
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    if (performance.now() > unreadUntil) endUnreadRequests(server);
  }, 50);
  await closed;
  clearInterval(sweep);
};
