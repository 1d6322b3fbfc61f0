import { isIP } from 'node:net';
import { block, tryNothing } from './directives.ts';
import { defaultConnections, listed, type GatewayOptions } from './options.ts';
import { services } from './routes.ts';

const isNumeric = (place: string): boolean => isIP(place.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) !== 0;

/** The one host name that nginx looks up again and again: it does so only for an address in a variable. */
const lookedUp = (service: string, { resolver, upstreams }: GatewayOptions): string | undefined => {
  const [first, ...others] = listed(upstreams[service]);
  return resolver !== undefined && first !== undefined && others.length === 0 && !isNumeric(first)
    ? first
    : undefined;
};

/**
 * nginx excludes a server for 10 s after one failure (its defaults), so that the connect time-out of a dead host delays one
 * request, not many. While instances restart one after the other, all may be excluded although one is ready: then the
 * second list, from which nothing is excluded, is tried. A single server is never excluded.
 */
const serverLines = (places: readonly string[]): string[] =>
  places.length === 1
    ? places.map((place) => `server ${place} max_fails=0;`)
    : [
        ...places.map((place) => `server ${place};`),
        ...places.map((place) => `server ${place} max_fails=0 backup;`),
      ];

/** upstreams.conf: the servers of each service. */
export const upstreamsFile = (options: GatewayOptions): string[] =>
  services.flatMap((service) => {
    const places = listed(options.upstreams[service]);
    if (places.length === 0 || lookedUp(service, options) !== undefined) return [];
    return block(
      `upstream ${service}`,
      serverLines(places),
      // As many as one client may have running requests; further requests open new connections.
      `keepalive ${defaultConnections};`,
      // Shorter than DRAIN_MS of the services: a stopping instance then has no idle connection left to close, on which a
      // POST could be lost.
      'keepalive_timeout 1s;',
    );
  });

/**
 * Passes the request to a service, byte for byte, or asks it for another document. Without a server for the service the
 * response is 503. (nginx ignores what follows a `rewrite … break`, so that comes last.)
 */
export const passTo = (service: string, options: GatewayOptions, document?: string): string[] => {
  if (listed(options.upstreams[service]).length === 0) return tryNothing('=503');
  const name = lookedUp(service, options);
  return [
    ...(name === undefined ? [] : [`set $place ${name};`]),
    ...(document === undefined ? [] : [`rewrite ^ ${document}? break;`]),
    `proxy_pass http://${name === undefined ? service : '$place'};`,
  ];
};
