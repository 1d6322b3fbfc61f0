import type { Server } from 'node:http';
import { listen } from '@platform/service-kit/service';
import { onTestFinished } from 'vitest';

/** Lets a server listen on 127.0.0.1 until the test has finished; resolves with its URL. */
export const serve = async (server: Server, port = 0): Promise<string> => {
  const address = await listen(server, '127.0.0.1', port);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${address.port}`;
};
