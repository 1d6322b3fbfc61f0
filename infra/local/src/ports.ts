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

/** A TCP port on 127.0.0.1 that was free a moment ago. */
export const freePort = (): Promise<number> => listen(0);

/** Whether a server can listen on the port of 127.0.0.1 now. */
export const isFree = async (port: number): Promise<boolean> =>
  listen(port).then(
    () => true,
    () => false,
  );

/** A port that a stack needs. */
export interface WantedPort {
  port: number;
  /** The program that needs it, as a person calls it. */
  by: string;
  /** The variable that moves it. */
  variable: 'GATEWAY_PORT' | 'GATEWAY_TLS_PORT' | 'GATEWAY_METRICS_PORT' | 'PORT_BASE';
}

/**
 * Makes sure that all ports are free.
 * @throws naming each taken port, what needs it and the variable that moves it
 */
export const ensurePorts = async (wanted: readonly WantedPort[]): Promise<void> => {
  const free = await Promise.all(wanted.map(({ port }) => isFree(port)));
  const problems = wanted.flatMap(({ port, by, variable }, index) => {
    const rival = wanted.slice(0, index).find((other) => other.port === port);
    if (rival) return [`port ${port} is needed by ${rival.by} and by ${by}; move one with ${variable}=…`];
    return free[index] ? [] : [`port ${port} for ${by} is taken or not allowed; move it with ${variable}=…`];
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
};
