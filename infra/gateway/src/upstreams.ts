import { block, linesOf, continueWith } from './directives.ts';
import type { GatewaySettings } from './options.ts';
import { prefixOf, routes, services } from './addresses.ts';

/** Servers that nginx never excludes after failures. */
const permanentServers = (addresses: readonly string[], resolve: string, backup = ''): string[] =>
  addresses.map((address) => `server ${address}${resolve} max_fails=0${backup};`);

/**
 * By default nginx excludes a server for 10 s after one failure, so that the connect time-out of a dead host delays one
 * request, not many. While instances restart one after another, all may be excluded although one is ready; then nginx
 * tries the backup entries, which it never excludes. It must not exclude a single server either.
 */
const serverLines = (addresses: readonly string[], resolve: string): string[] => {
  if (addresses.length === 1 && resolve === '') return permanentServers(addresses, resolve);
  const servers = addresses.map((address) => `server ${address}${resolve};`);
  return [...servers, ...permanentServers(addresses, resolve, ' backup')];
};

/** Name of the upstream for requests that may take minutes: its servers are not excluded for a slow response. */
const streamName = (service: string): string => `${service}-streams`;

const upstream = (name: string, servers: readonly string[]): string[] =>
  block(
    `upstream ${name}`,
    // The workers share this memory, with the failures and running requests of each server.
    `zone ${name} 256k;`,
    // A server that does not respond keeps its requests, so it gets no more requests than the other servers have.
    'least_conn;',
    servers,
    // Equals the default limit of concurrent requests of one client; further requests open new connections.
    'keepalive 256;',
    // Shorter than DRAIN_MS of the services, so that nginx closes idle connections before a stopping instance does: a
    // POST on a connection that the instance closes would be lost.
    'keepalive_timeout 1s;',
  );

/**
 * Renders upstreams.conf: the servers of each service. With a name server nginx looks up their names again when they expire
 * (`resolve`, from 1.27.3 on), and a name may have several addresses or none. Otherwise it looks them up only at its start.
 */
export const upstreamsFile = (settings: GatewaySettings): string[] =>
  services.flatMap((service) => {
    const addresses = settings.upstreams[service];
    if (addresses === undefined) return [];
    const resolve = settings.resolverFile === undefined ? '' : ' resolve';
    const lines = upstream(service, serverLines(addresses, resolve));
    const hasStreams = routes.some((route) => route.service === service && route.stream);
    if (hasStreams) lines.push(...upstream(streamName(service), permanentServers(addresses, resolve)));
    return lines;
  });

/**
 * Passes the request target unchanged to a service, or `document` instead. The prefix of a cell is removed from the target
 * and added to redirects. A service without servers is not deployed: 404. These lines must be the last ones of a location,
 * because nginx ignores rewrite directives such as `set` after `rewrite … break`.
 */
export const passTo = (
  service: string,
  settings: GatewaySettings,
  { document, stream = false }: { document?: string; stream?: boolean } = {},
): string[] => {
  if (settings.upstreams[service] === undefined) return [continueWith('=404')];
  const prefix = document === undefined ? prefixOf(service) : undefined;
  const target = prefix === undefined ? '' : '$cell_target';
  return linesOf(
    document !== undefined && `rewrite ^ ${document}? break;`,
    prefix !== undefined && `proxy_redirect / ${prefix}/;`,
    `proxy_pass http://${stream ? streamName(service) : service}${target};`,
  );
};
