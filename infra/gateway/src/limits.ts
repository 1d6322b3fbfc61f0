import { block } from './directives.ts';
import type { GatewayOptions } from './options.ts';
import type { Route } from './routes.ts';

export const defaultConnections = 256;

/** Machines call `unlimited` routes in bursts; many of them may share one address. */
const machineFactor = 4;

/**
 * The zones in which clients are counted. A client is an IPv4 address or the /64 of an IPv6 address, because one
 * customer usually has a whole /64.
 */
export const clientLimits = ({ rateLimit }: GatewayOptions): string[] => [
  ...block(
    'map $binary_remote_addr $client_network',
    'default $binary_remote_addr;',
    '# An IPv4 address that was mapped to IPv6 counts as itself.',
    String.raw`"~(?s)^\x00{10}\xff\xff(?<ipv4>.{4})\z" $ipv4;`,
    String.raw`"~(?s)^(?<ipv6_network>.{8}).{8}\z" $ipv6_network;`,
  ),
  'limit_conn_zone $client_network zone=connections:10m;',
  'limit_conn_status 429;',
  'limit_req_status 429;',
  ...(rateLimit ? [`limit_req_zone $client_network zone=requests:10m rate=${rateLimit.perSecond}r/s;`] : []),
];

/** Limits of a location whose requests go to a service. */
export const requestLimits = (
  { rateLimit, connectionsPerClient = defaultConnections }: GatewayOptions,
  { unlimited }: Pick<Route, 'unlimited'> = {},
): string[] => [
  `limit_conn connections ${unlimited ? connectionsPerClient * machineFactor : connectionsPerClient};`,
  ...(rateLimit && !unlimited ? [`limit_req zone=requests burst=${rateLimit.burst} nodelay;`] : []),
];
