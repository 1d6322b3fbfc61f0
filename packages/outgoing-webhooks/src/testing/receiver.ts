import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** A request that the receiver got. */
export interface Received {
  id: string;
  headers: Record<string, string>;
  body: string;
  event: {
    type: string;
    timestamp: string;
    data: { id: string; version: number; item?: Record<string, unknown> };
  };
}

/** Starts the backend of a subscriber until the test has finished. It answers 204, or calls `respond`. */
export const startReceiver = async (
  respond: (received: Received, res: ServerResponse) => unknown = (_, res) => res.writeHead(204).end(),
) => {
  const received: Received[] = [];
  const receive = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = await text(req);
    const headers = req.headers as Record<string, string>;
    const request = {
      id: headers['webhook-id'] ?? '',
      headers,
      body,
      event: JSON.parse(body) as Received['event'],
    };
    received.push(request);
    await respond(request, res);
  };
  const server = createServer((req, res) => void receive(req, res));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/changes` };
};
