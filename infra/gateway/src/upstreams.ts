import { block, linesOf, tryNothing } from './directives.ts';
import type { GatewaySettings } from './options.ts';
import { prefixOf, routes, services } from './addresses.ts';

/**
 * nginx excludes a server for 10 s after one failure (its defaults), so that the connect time-out of a dead host delays one
 * request, not many. While instances restart one after the other, all may be excluded although one is ready: then the
 * second list, from which nothing is excluded, is tried. A single server is never excluded.
 */
const serverLines = (places: readonly string[], resolve: string): string[] =>
  places.length === 1 && resolve === ''
    ? places.map((place) => `server ${place} max_fails=0;`)
    : [
        ...places.map((place) => `server ${place}${resolve};`),
        ...places.map((place) => `server ${place}${resolve} max_fails=0 backup;`),
      ];

/** The servers of requests that may take minutes: that one is slow says nothing about its server. */
const streamName = (service: string): string => `${service}-streams`;

/**
 * upstreams.conf: the servers of each service. With a name server nginx looks their names up again as they expire (`resolve`,
 * from 1.27.3 on), and a name may have several addresses or none; else it takes the addresses that it finds when it starts.
 */
export const upstreamsFile = (settings: GatewaySettings): string[] =>
  services.flatMap((service) => {
    const places = settings.upstreams[service];
    if (places === undefined) return [];
    const resolve = settings.resolverFile === undefined ? '' : ' resolve';
    const upstream = (name: string, servers: string[]): string[] =>
      block(
        `upstream ${name}`,
        // Shared by the workers, as are failures and running requests.
        `zone ${name} 256k;`,
        // A server that does not answer keeps its requests, so it gets no more than the others have.
        'least_conn;',
        servers,
        // As many as one client may have running requests by default; further requests open new connections.
        'keepalive 256;',
        // Shorter than DRAIN_MS of the services: a stopping instance then has no idle connection left to close, on which a
        // POST could be lost.
        'keepalive_timeout 1s;',
      );
    const hasStreams = routes.some((route) => route.service === service && route.stream);
    return [
      ...upstream(service, serverLines(places, resolve)),
      ...(hasStreams
        ? upstream(
            streamName(service),
            places.map((place) => `server ${place}${resolve} max_fails=0;`),
          )
        : []),
    ];
  });

/**
 * Passes the request to a service, byte for byte, or asks it for another document. A cell gets it without its prefix, which
 * is added to the paths that it redirects to. A service without servers is not deployed: 404. (nginx ignores what follows
 * a `rewrite … break`, so that comes last.)
 */
export const passTo = (
  service: string,
  settings: GatewaySettings,
  { document, stream = false }: { document?: string; stream?: boolean } = {},
): string[] => {
  if (settings.upstreams[service] === undefined) return [tryNothing('=404')];
  const prefix = document === undefined ? prefixOf(service) : undefined;
  const target = prefix === undefined ? '' : '$cell_target';
  return linesOf(
    document !== undefined && `rewrite ^ ${document}? break;`,
    prefix !== undefined && `proxy_redirect / ${prefix}/;`,
    `proxy_pass http://${stream ? streamName(service) : service}${target};`,
  );
};
