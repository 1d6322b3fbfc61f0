import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Whether a server can listen on the port of 127.0.0.1 now. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });

/**
 * Below those that the system gives to outgoing connections (32768 and above on Linux), one of which could take the port
 * meanwhile, and below those of the platforms that tests start.
 */
const FREE_PORTS = { from: 8_200, to: 12_000 };

/** A TCP port on 127.0.0.1 that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(FREE_PORTS.from, FREE_PORTS.to);
    if (await isFree(port)) return port;
  }
};

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
