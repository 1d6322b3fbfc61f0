import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ClientAddress } from '../http/client-address.ts';
import { widestNetworkOf } from '../http/network.ts';

/** Above this share of the connections unread requests are ended, until `roomyShare` is left. */
const shortShare = 0.9;
const roomyShare = 0.8;
/** How long a connection of a trusted proxy may take to bring the head of its first request. */
const headMs = 1000;

export interface ConnectionBudget {
  /** Connections at most; further ones are closed at once. */
  maxConnections: number;
  clientAddress: ClientAddress;
  /** Ends an unread request, or with `undefined` a connection without one. */
  end(socket: Socket, res: ServerResponse | undefined): void;
}

interface Connection {
  socket: Socket;
  /** When its newest request arrived, or itself; larger is later. */
  turn: number;
  openedAt: number;
  /** Its last request came through a trusted proxy, which may be sending the next one. */
  proxied: boolean;
}

/** The response that is written on a connection next or now; set as soon as the head of its request has arrived. */
export const responseOn = (socket: Socket): ServerResponse<IncomingMessage> | undefined =>
  (socket as { _httpMessage?: ServerResponse })._httpMessage ?? undefined;

const enders = new WeakMap<Server, () => void>();

/** Ends all unread requests of a server that stops, however many connections it has. */
export const endUnreadRequests = (server: Server): void => enders.get(server)?.();

/**
 * Shares the connections of a server among the networks of its clients. While they run short, the oldest unread requests
 * of the network with the most of them end first: requests whose head or body has not arrived, those whose client has not
 * read the answer, and idle connections except those of a trusted proxy. Requests that have arrived are answered. Returns the
 * listener that has to be used instead of `listener`.
 */
export const shareConnections = (
  server: Server,
  listener: RequestListener,
  { maxConnections, clientAddress, end }: ConnectionBudget,
): RequestListener => {
  const open = new Map<Socket, Connection>();
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
  const endConnection = ({ socket }: Connection): void => {
    open.delete(socket);
    end(socket, responseOn(socket));
  };
  enders.set(server, () => {
    for (const connection of open.values())
      if (networkOfUnread(connection) !== undefined) endConnection(connection);
  });
  const makeRoom = (): void => {
    const oldestFirst = [...open.values()].toSorted((a, b) => a.turn - b.turn);
    const groups = [...Map.groupBy(oldestFirst, networkOfUnread)].filter(
      ([network]) => network !== undefined,
    );
    const unread = groups.map(([, connections]) => connections);
    while (open.size > maxConnections * roomyShare && unread.length > 0) {
      const largest = unread.reduce((most, other) => (other.length > most.length ? other : most));
      const [oldest] = largest.splice(0, 1);
      if (oldest === undefined) return;
      endConnection(oldest);
    }
  };

  server.maxConnections = maxConnections;
  server.on('connection', (socket: Socket) => {
    open.set(socket, { socket, turn: ++turns, openedAt: performance.now(), proxied: false });
    socket.once('close', () => open.delete(socket));
    if (open.size > Math.ceil(maxConnections * shortShare)) makeRoom();
  });
  return (req, res) => {
    listener(req, res);
    const connection = open.get(req.socket);
    if (connection === undefined) return;
    connection.turn = ++turns;
    // Only a trusted proxy's header is left by now (gateway-secret.ts).
    connection.proxied = req.headers['x-forwarded-for'] !== undefined;
    if (connection.proxied) proxies.add(req.socket.remoteAddress);
  };
};
