import { createServer } from 'node:net';

const listen = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });

/** A TCP port on 127.0.0.1 that nobody listened on a moment ago. */
export const freePort = (): Promise<number> => listen(0);

/** Whether the port on 127.0.0.1 can be listened on now. */
export const isFree = async (port: number): Promise<boolean> =>
  listen(port).then(
    () => true,
    () => false,
  );
