import type { Plan } from './backing-services.ts';
import type { StartOptions } from './options.ts';
import type { WantedPort } from './ports.ts';
import { instanceName, instancePort, probePort, type Service } from './services.ts';

/** The numbers of the instances of each service, from 1. */
export const instancesOf = ({ instances }: StartOptions): number[] =>
  Array.from({ length: instances }, (_, index) => index + 1);

const gatewayPorts = ({ gatewayPort, gatewayTls, gatewayMetricsPort }: StartOptions): WantedPort[] => [
  { port: gatewayPort, by: 'the gateway', variable: 'GATEWAY_PORT' },
  ...(gatewayTls
    ? [{ port: gatewayTls.port, by: 'the gateway', variable: 'GATEWAY_TLS_PORT' } as const]
    : []),
  ...(gatewayMetricsPort
    ? [{ port: gatewayMetricsPort, by: "the gateway's metrics", variable: 'GATEWAY_METRICS_PORT' } as const]
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
  const based = (port: number, by: string): WantedPort => ({ port, by, variable: 'PORT_BASE' });
  return [
    ...services.flatMap((service) =>
      instancesOf(options).flatMap((instance) => [
        based(instancePort(service, portBase, instance), instanceName(service, instance)),
        based(probePort(service, portBase, instance), `probes of ${instanceName(service, instance)}`),
      ]),
    ),
    ...(postgresPort ? [based(postgresPort, 'PostgreSQL')] : []),
    ...(redisPort ? [based(redisPort, 'Redis')] : []),
    ...(hasGateway ? gatewayPorts(options) : []),
  ];
};
