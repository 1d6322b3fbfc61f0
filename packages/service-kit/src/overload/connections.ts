import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { widestNetworkOf, type ClientAddress } from '../http/network.ts';

/** Above this share of `maxConnections`, unread requests are ended until the number falls to `targetShare`. */
const shortShare = 0.9;
const targetShare = 0.8;
/** How long a new connection of a trusted proxy may take to send the head of its first request. */
const headMs = 1000;
/**
 * A connection on which no response bytes can be sent for this long is closed. It is long because the kernel accepts more only
 * when a third of its buffer is free, so with a slow client nothing is sent for seconds.
 */
const defaultStalledMs = 15_000;

/** Limits for a server, so that clients can use up neither its connections nor its memory for responses. */
export interface ConnectionLimits {
  /** The maximum number of connections; further ones are closed at once. */
  maxConnections: number;
  /** Maximum bytes of responses in memory that clients have not read. */
  maxUnsentBytes: number;
  stalledMs?: number;
  clientAddress: ClientAddress;
  /** Ends a connection: answers its unread request, or closes it if there is none or a response was sent. */
  end(socket: Socket, res: ServerResponse | undefined): void;
}

interface Connection {
  socket: Socket;
  /** Sequence number of its newest request, or of the connection itself. */
  sequence: number;
  openedAt: number;
  /** Its last request came through a trusted proxy, which may be sending the next one. */
  proxied: boolean;
  /** Bytes of its responses that the client has not read. */
  unsentBytes: number;
  /** The widest network of the client; set with the first unread response. */
  network: string | undefined;
}

/** The current or next response of a connection; set as soon as the head of its request has arrived. */
export const responseOn = (socket: Socket): ServerResponse<IncomingMessage> | undefined =>
  (socket as { _httpMessage?: ServerResponse })._httpMessage ?? undefined;

/** For each server with bounded connections, the function that ends its unread requests. */
const endUnreadOf = new WeakMap<Server, () => void>();

/** Ends all unread requests of a server that stops. */
export const endUnreadRequests = (server: Server): void => endUnreadOf.get(server)?.();

type CountUnsent = (req: IncomingMessage, res: ServerResponse, bytes: number) => (() => void) | undefined;

/** For each connection, the function of its server that counts unsent responses. */
const countUnsentOf = new WeakMap<Socket, CountUnsent>();

/**
 * Counts `bytes` of a response that were written, unless the kernel has already taken all of them, as with most responses.
 * They count until the response closes or the returned function is called because they were sent.
 */
export const countUnsent: CountUnsent = (req, res, bytes) =>
  res.writableLength > 0 && !res.destroyed ? countUnsentOf.get(req.socket)?.(req, res, bytes) : undefined;

/** A resource that can run short, and how much of it a connection uses. */
interface Resource {
  isShort(): boolean;
  /** The network for which the connection counts; undefined if it must not be ended. */
  networkOf(connection: Connection): string | undefined;
  sizeOf(connection: Connection): number;
}

/** Ends connections while a resource is short: each time the first connection of the network that uses the most. */
const endWhileShort = (
  connections: Iterable<Connection>,
  end: (connection: Connection) => void,
  { isShort, networkOf, sizeOf }: Resource,
): void => {
  const networks = [...Map.groupBy(connections, networkOf)]
    .filter(([network]) => network !== undefined)
    .map(([, members]) => ({
      members,
      size: members.reduce((sum, connection) => sum + sizeOf(connection), 0),
    }));
  while (isShort() && networks.length > 0) {
    const largest = networks.reduce((max, other) => (other.size > max.size ? other : max));
    const first = largest.members.shift();
    if (first === undefined) return;
    largest.size -= sizeOf(first);
    end(first);
  }
};

/**
 * Shares the connections of a server, and the memory of responses that clients do not read (ADR 74, ADR 101), among the networks
 * of its clients.
 *
 * While connections are short, the network with the most connections loses its oldest: those whose request has not arrived
 * completely or whose client has not read the response, and idle ones except those of a trusted proxy. Complete requests are
 * answered. While memory is short, the network that uses the most loses the connections that have waited longest.
 *
 * Returns the listener to use instead of `listener`.
 */
export const boundConnections = (
  server: Server,
  listener: RequestListener,
  limits: ConnectionLimits,
): RequestListener => {
  const { maxConnections, maxUnsentBytes, stalledMs = defaultStalledMs, clientAddress, end } = limits;
  const open = new Map<Socket, Connection>();
  /** The connections with an unsent response, longest wait first. */
  const withUnsent = new Set<Connection>();
  let unsentBytes = 0;
  /** Addresses of trusted proxies that have sent requests. */
  const proxies = new Set<string | undefined>();
  let lastSequence = 0;
  /** The network for which an unread connection counts; undefined if the connection must not be ended. */
  const networkOfUnread = ({ socket, proxied, openedAt }: Connection): string | undefined => {
    const req = responseOn(socket)?.req;
    if (req !== undefined)
      return req.complete && socket.writableLength === 0 ? undefined : widestNetworkOf(clientAddress(req));
    const isNew = performance.now() - openedAt < headMs;
    return proxied || (isNew && proxies.has(socket.remoteAddress))
      ? undefined
      : widestNetworkOf(socket.remoteAddress);
  };
  const releaseUnsent = (connection: Connection, bytes: number): void => {
    if (!withUnsent.has(connection)) return;
    connection.unsentBytes -= bytes;
    unsentBytes -= bytes;
    if (connection.unsentBytes <= 0) withUnsent.delete(connection);
  };
  const endConnection = (connection: Connection): void => {
    const { socket } = connection;
    open.delete(socket);
    releaseUnsent(connection, connection.unsentBytes);
    end(socket, responseOn(socket));
  };
  endUnreadOf.set(server, () => {
    for (const connection of open.values())
      if (networkOfUnread(connection) !== undefined) endConnection(connection);
  });
  const makeRoom = (): void =>
    endWhileShort(
      [...open.values()].toSorted((a, b) => a.sequence - b.sequence),
      endConnection,
      {
        isShort: () => open.size > maxConnections * targetShare,
        networkOf: networkOfUnread,
        sizeOf: () => 1,
      },
    );
  const freeMemory = (): void =>
    endWhileShort(withUnsent, endConnection, {
      isShort: () => unsentBytes > maxUnsentBytes,
      networkOf: ({ network }) => network,
      sizeOf: (connection) => connection.unsentBytes,
    });

  const countAnswer: CountUnsent = (req, res, bytes) => {
    const { socket } = req;
    const connection = open.get(socket);
    if (connection === undefined) return undefined;
    connection.network = widestNetworkOf(clientAddress(req));
    // With pipelined requests a connection can have several unsent responses.
    connection.unsentBytes += bytes;
    withUnsent.add(connection);
    unsentBytes += bytes;
    // Node.js destroys a socket at its timeout if there is no listener. Each write restarts the timeout.
    socket.setTimeout(stalledMs);
    const release = (): void => {
      res.off('close', release);
      releaseUnsent(connection, bytes);
      // If no request is being answered, Node.js has already set its own timeout for idle connections.
      if (!withUnsent.has(connection) && responseOn(socket)) socket.setTimeout(0);
    };
    res.once('close', release);
    if (unsentBytes > maxUnsentBytes) freeMemory();
    return release;
  };

  server.maxConnections = maxConnections;
  server.on('connection', (socket: Socket) => {
    countUnsentOf.set(socket, countAnswer);
    const openedAt = performance.now();
    const sequence = ++lastSequence;
    open.set(socket, { socket, sequence, openedAt, proxied: false, unsentBytes: 0, network: undefined });
    socket.once('close', () => open.delete(socket));
    if (open.size > Math.ceil(maxConnections * shortShare)) makeRoom();
  });
  return (req, res) => {
    listener(req, res);
    const connection = open.get(req.socket);
    if (connection === undefined) return;
    connection.sequence = ++lastSequence;
    // `behindGateway` has removed this header unless a trusted proxy sent it.
    connection.proxied = req.headers['x-forwarded-for'] !== undefined;
    if (connection.proxied) proxies.add(req.socket.remoteAddress);
  };
};
