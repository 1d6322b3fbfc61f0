import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpServer } from '../http/server.ts';

export interface RunningServer extends AsyncDisposable {
  url: string;
  port: number;
  server: Server;
}

/** Serves an app on a free port of 127.0.0.1, as a service does. Closed on disposal. */
export const serve = async (listener: RequestListener): Promise<RunningServer> => {
  const server = createHttpServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
