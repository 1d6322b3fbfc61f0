import { createServer } from 'node:net';
import type { Plan } from './backing-services.ts';
import type { StartOptions } from './options.ts';
import { standInOf } from './service-settings.ts';
import { instanceName, instancePort, probePort, type Service } from './services.ts';

/** Returns whether a server can listen on this port of 127.0.0.1 now. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });

/** A port that a stack needs. */
export interface WantedPort {
  port: number;
  /** Display name of the program that needs it. */
  by: string;
  /** The variable that changes the port. */
  variable: 'GATEWAY_PORT' | 'GATEWAY_TLS_PORT' | 'GATEWAY_METRICS_PORT' | 'PORT_BASE';
}

/**
 * Makes sure that all ports are free.
 * @throws with each taken port, the program that needs it and the variable that changes it
 */
export const ensurePorts = async (wanted: readonly WantedPort[]): Promise<void> => {
  const free = await Promise.all(wanted.map(({ port }) => isFree(port)));
  const problems = wanted.flatMap(({ port, by, variable }, index) => {
    const rival = wanted.slice(0, index).find((other) => other.port === port);
    if (rival) return [`port ${port} is used by ${rival.by} and ${by}; change one with ${variable}=…`];
    return free[index] ? [] : [`port ${port} for ${by} is taken or forbidden; change it with ${variable}=…`];
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
};

/** The numbers of the instances of each service, from 1. */
export const instancesOf = ({ instances }: StartOptions): number[] =>
  Array.from({ length: instances }, (_, index) => index + 1);

const gatewayPorts = ({ gatewayPort, gatewayTls, gatewayMetricsPort }: StartOptions): WantedPort[] => [
  { port: gatewayPort, by: 'the gateway', variable: 'GATEWAY_PORT' },
  ...(gatewayTls
    ? [{ port: gatewayTls.port, by: 'the gateway', variable: 'GATEWAY_TLS_PORT' } as const]
    : []),
  ...(gatewayMetricsPort
    ? [
        { port: gatewayMetricsPort, by: "the gateway's metrics", variable: 'GATEWAY_METRICS_PORT' } as const,
        { port: gatewayMetricsPort + 1, by: "nginx's metrics", variable: 'GATEWAY_METRICS_PORT' } as const,
      ]
    : []),
];

/** All ports that a stack listens on. */
export const wantedPorts = (
  options: StartOptions,
  { postgresPort, redisPort }: Plan,
  services: readonly Service[],
  hasGateway: boolean,
): WantedPort[] => {
  const { portBase } = options;
  const fromBase = (port: number, by: string): WantedPort => ({ port, by, variable: 'PORT_BASE' });
  return [
    ...services.flatMap((service) =>
      instancesOf(options).flatMap((instance) => [
        fromBase(instancePort(service, portBase, instance), instanceName(service, instance)),
        fromBase(probePort(service, portBase, instance), `probes of ${instanceName(service, instance)}`),
      ]),
    ),
    ...services.flatMap((service) => {
      const standIn = standInOf(service, options);
      return standIn ? [fromBase(standIn.port, standIn.name)] : [];
    }),
    ...(postgresPort ? [fromBase(postgresPort, 'PostgreSQL')] : []),
    ...(redisPort ? [fromBase(redisPort, 'Redis')] : []),
    ...(hasGateway ? gatewayPorts(options) : []),
  ];
};
