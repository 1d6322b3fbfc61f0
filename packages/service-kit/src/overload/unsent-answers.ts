import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ClientAddress } from '../http/client-address.ts';
import { responseOn } from './connection-budget.ts';
import { widestNetworkOf } from '../http/network.ts';

/**
 * A connection that takes nothing of an answer for this long is closed. The kernel asks for more only when a third of its
 * buffer is free, so a client that reads slowly takes nothing for seconds.
 */
const defaultStalledMs = 15_000;

export interface UnsentAnswersOptions {
  /** Bytes at most of the answers that are in memory because their clients have not read them. */
  maxBytes: number;
  stalledMs?: number;
  clientAddress: ClientAddress;
  /** Closes a connection because there were more. */
  end(socket: Socket): void;
}

interface Held {
  /** The widest network of the client. */
  network: string;
  bytes: number;
}

type Hold = (req: IncomingMessage, res: ServerResponse, bytes: number) => void;

const holders = new WeakMap<Socket, Hold>();

/** Counts an answer of `bytes` that was written, unless the kernel took all of it, as it does with most answers. */
export const holdUnsent = (req: IncomingMessage, res: ServerResponse, bytes: number): void => {
  if (res.writableLength > 0 && !res.destroyed) holders.get(req.socket)?.(req, res, bytes);
};

/**
 * Bounds the memory of a server's answers that clients do not read (ADR 101). While it runs short, the connections of the
 * network that holds most of it close, the one first that has waited longest.
 */
export const boundUnsentAnswers = (
  server: Server,
  { maxBytes, stalledMs = defaultStalledMs, clientAddress, end }: UnsentAnswersOptions,
): void => {
  /** The connections with an unsent answer, the one first that has waited longest. */
  const held = new Map<Socket, Held>();
  let total = 0;

  const release = (socket: Socket, bytes: number): void => {
    const own = held.get(socket);
    if (own === undefined) return;
    own.bytes -= bytes;
    total -= bytes;
    if (own.bytes <= 0) held.delete(socket);
  };
  const largestNetwork = (): string | undefined => {
    const sums = new Map<string, number>();
    for (const { network, bytes } of held.values()) sums.set(network, (sums.get(network) ?? 0) + bytes);
    return [...sums].reduce((most, other) => (other[1] > most[1] ? other : most), ['', 0])[0];
  };
  const makeRoom = (): void => {
    while (total > maxBytes && held.size > 0) {
      const network = largestNetwork();
      for (const [socket, own] of held) {
        if (own.network !== network) continue;
        release(socket, own.bytes);
        end(socket);
        break;
      }
    }
  };

  const hold: Hold = (req, res, bytes) => {
    const { socket } = req;
    const network = widestNetworkOf(clientAddress(req));
    // Several answers of a connection are unsent when its requests were pipelined.
    held.set(socket, { network, bytes: (held.get(socket)?.bytes ?? 0) + bytes });
    total += bytes;
    // Node.js destroys a socket with a timeout for which there is no listener, and begins anew when it could write.
    socket.setTimeout(stalledMs);
    res.once('close', () => {
      release(socket, bytes);
      // Node.js has set the timeout of idle connections, unless the next request is already being answered.
      if (!held.has(socket) && responseOn(socket)) socket.setTimeout(0);
    });
    makeRoom();
  };
  server.on('connection', (socket: Socket) => holders.set(socket, hold));
};
