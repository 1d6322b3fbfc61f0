import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';

/** The port on which a server listens. */
export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });

let next = randomInt(8_200, 12_000);

/**
 * A port on which nobody listens at this moment. It lies below those that the system gives to outgoing connections
 * (32768 and above on Linux), one of which could take it meanwhile.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = next;
    next = port + 1 < 12_000 ? port + 1 : 8_200;
    if (await isFree(port)) return port;
  }
};
