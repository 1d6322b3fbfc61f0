import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between a process and the PostgreSQL of `databaseUrl`; `url` is the database's through it. */
export const startProxy = async (databaseUrl: string) => {
  const { hostname, port } = new URL(databaseUrl);
  const pairs = new Map<Socket, Socket>();
  let withholding = false;

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    pairs.set(client, upstream);
    client.pipe(upstream);
    if (!withholding) upstream.pipe(client);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      // A process that is killed resets its connections; 'close' follows.
      one.on('error', () => undefined);
      one.on('close', () => {
        pairs.delete(client);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: url.href,
    /** From now on requests still arrive at the server, but none of its answers goes back. */
    withhold: () => {
      withholding = true;
      for (const [client, upstream] of pairs) upstream.unpipe(client);
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const client of pairs.keys()) client.destroy();
      await once(server, 'close');
    },
  };
};
