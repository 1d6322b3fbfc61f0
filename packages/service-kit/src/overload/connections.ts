import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { widestNetworkOf, type ClientAddress } from '../http/network.ts';

/** Above this share of the connections unread requests are ended, until `roomyShare` is left. */
const shortShare = 0.9;
const roomyShare = 0.8;
/** How long a connection of a trusted proxy may take to bring the head of its first request. */
const headMs = 1000;
/**
 * A connection that takes nothing of an answer for this long is closed. The kernel asks for more only when a third of its
 * buffer is free, so a client that reads slowly takes nothing for seconds.
 */
const defaultStalledMs = 15_000;

/** What bounds the connections of a server, whose clients must not take all of them, nor the memory with its answers. */
export interface ConnectionLimits {
  /** The maximum number of connections; further ones are closed at once. */
  maxConnections: number;
  /** Bytes at most of answers that are in memory because their clients have not read them. */
  maxUnsentBytes: number;
  stalledMs?: number;
  clientAddress: ClientAddress;
  /** Ends what is unread on a connection: a request, an answer, or with `undefined` the connection without one. */
  end(socket: Socket, res: ServerResponse | undefined): void;
}

interface Connection {
  socket: Socket;
  /** When its newest request arrived, or itself; larger is later. */
  turn: number;
  openedAt: number;
  /** Its last request came through a trusted proxy, which may be sending the next one. */
  proxied: boolean;
  /** Bytes of its answers that the client has not read, and the widest network of that client once there were some. */
  unsentBytes: number;
  network: string | undefined;
}

/** The response that is written on a connection next or now; set as soon as the head of its request has arrived. */
export const responseOn = (socket: Socket): ServerResponse<IncomingMessage> | undefined =>
  (socket as { _httpMessage?: ServerResponse })._httpMessage ?? undefined;

/** For each server with bounded connections, the function that ends its unread requests. */
const endUnreadOf = new WeakMap<Server, () => void>();

/** Ends all unread requests of a server that stops, however many connections it has. */
export const endUnreadRequests = (server: Server): void => endUnreadOf.get(server)?.();

type CountUnsent = (req: IncomingMessage, res: ServerResponse, bytes: number) => (() => void) | undefined;

/** For each connection, the function of its server that counts unsent answers. */
const countUnsentOf = new WeakMap<Socket, CountUnsent>();

/**
 * Counts an answer, or a part of one, of `bytes` that was written, unless the kernel took all of it, as it does with most
 * answers. They count until the response closes, or what this returns is called because they were sent.
 */
export const countUnsent: CountUnsent = (req, res, bytes) =>
  res.writableLength > 0 && !res.destroyed ? countUnsentOf.get(req.socket)?.(req, res, bytes) : undefined;

/** What runs short, and how much of it a connection has. */
interface Resource {
  isShort(): boolean;
  /** The network that the connection counts for; undefined when it has to stay. */
  networkOf(connection: Connection): string | undefined;
  sizeOf(connection: Connection): number;
}

/** Ends connections while something runs short: each time the first one of the network that has most of it. */
const endWhileShort = (
  connections: Iterable<Connection>,
  end: (connection: Connection) => void,
  { isShort, networkOf, sizeOf }: Resource,
): void => {
  const networks = [...Map.groupBy(connections, networkOf)]
    .filter(([network]) => network !== undefined)
    .map(([, own]) => ({ own, size: own.reduce((sum, connection) => sum + sizeOf(connection), 0) }));
  while (isShort() && networks.length > 0) {
    const largest = networks.reduce((most, other) => (other.size > most.size ? other : most));
    const first = largest.own.shift();
    if (first === undefined) return;
    largest.size -= sizeOf(first);
    end(first);
  }
};

/**
 * Shares the connections of a server, and the memory of its answers that clients do not read (ADR 74, ADR 101), among the
 * networks of its clients.
 *
 * While connections run short, the oldest unread requests of the network with the most of them end first: requests whose
 * head or body has not arrived, those whose client has not read the answer, and idle connections except those of a trusted
 * proxy. Requests that have arrived are answered. While memory runs short, the connections of the network that holds most
 * of it close, the one first that has waited longest.
 *
 * Returns the listener that has to be used instead of `listener`.
 */
export const boundConnections = (
  server: Server,
  listener: RequestListener,
  limits: ConnectionLimits,
): RequestListener => {
  const { maxConnections, maxUnsentBytes, stalledMs = defaultStalledMs, clientAddress, end } = limits;
  const open = new Map<Socket, Connection>();
  /** The connections with an unsent answer, the one first that has waited longest. */
  const withUnsent = new Set<Connection>();
  let unsentBytes = 0;
  /** Addresses of trusted proxies that have sent requests. */
  const proxies = new Set<string | undefined>();
  let turns = 0;
  /** The network that the connection counts for; undefined when it has to stay. */
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
      [...open.values()].toSorted((a, b) => a.turn - b.turn),
      endConnection,
      { isShort: () => open.size > maxConnections * roomyShare, networkOf: networkOfUnread, sizeOf: () => 1 },
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
    // Several answers of a connection are unsent when its requests were pipelined.
    connection.unsentBytes += bytes;
    withUnsent.add(connection);
    unsentBytes += bytes;
    // Node.js destroys a socket with a timeout for which there is no listener, and begins anew when it could write.
    socket.setTimeout(stalledMs);
    const release = (): void => {
      res.off('close', release);
      releaseUnsent(connection, bytes);
      // Node.js has set the timeout of idle connections, unless a request is still or already being answered.
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
    open.set(socket, { socket, turn: ++turns, openedAt, proxied: false, unsentBytes: 0, network: undefined });
    socket.once('close', () => open.delete(socket));
    if (open.size > Math.ceil(maxConnections * shortShare)) makeRoom();
  });
  return (req, res) => {
    listener(req, res);
    const connection = open.get(req.socket);
    if (connection === undefined) return;
    connection.turn = ++turns;
    // Only a trusted proxy's header is left by now (`behindGateway`).
    connection.proxied = req.headers['x-forwarded-for'] !== undefined;
    if (connection.proxied) proxies.add(req.socket.remoteAddress);
  };
};
