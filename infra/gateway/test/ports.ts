import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';

/** The port on which a server listens. */
export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A server on the port that keeps no process running; undefined when the port is taken. */
const listen = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer().unref();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });

const BLOCK = 50;

/**
 * As in infra/local/src/testing/free-ports.ts, which uses this package: the process that listens on the first port of a block owns its
 * other ports.
 */
const reserveBlock = async (): Promise<number> => {
  for (;;) {
    const first = 8_200 + BLOCK * randomInt(76);
    if (await listen(first)) return first;
  }
};

let block: Promise<number> | undefined;
let given = 0;

/**
 * A port that was free a moment ago. It is lower than the ports of outgoing connections (32768 and above on Linux), which
 * could take it before it is used.
 */
export const freePort = async (): Promise<number> => {
  const first = await (block ??= reserveBlock());
  for (;;) {
    const port = first + 1 + (given++ % (BLOCK - 1));
    const server = await listen(port);
    if (server === undefined) continue;
    await new Promise((closed) => server.close(closed));
    return port;
  }
};
