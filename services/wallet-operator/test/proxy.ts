import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

interface Options {
  /** Called with each piece of an answer; the connection is closed instead of forwarding it when this is true. */
  isLost?: (answer: Buffer) => boolean;
}

/** A TCP proxy between the service and PostgreSQL that loses what a test wants to be lost. */
export const startProxy = async (databaseUrl: string, { isLost = () => false }: Options = {}) => {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const hangUp = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', hangUp).on('close', () => {
        open.delete(socket);
        if (!silent.has(socket)) hangUp();
      });
    }
    near.on('data', (data) => silent.has(near) || far.write(data));
    far.on('data', (data) => {
      if (silent.has(near)) return;
      if (isLost(data)) hangUp();
      else near.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    /** The database's address by way of the proxy. */
    url: url.href,
    /** Drops everything on the connections that are open now, without closing them. New ones work. */
    dropPackets: (): void => {
      for (const socket of open) silent.add(socket);
    },
  };
};
