import { isIP } from 'node:net';
import { block, linesOf, tryNothing } from './directives.ts';
import type { GatewaySettings } from './options.ts';
import { services } from './routes.ts';

const isNumeric = (place: string): boolean => isIP(place.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) !== 0;

/** The one host name that nginx looks up again and again: it does so only for an address in a variable. */
const lookedUp = (service: string, { resolver, upstreams }: GatewaySettings): string | undefined => {
  const [first, ...others] = upstreams[service] ?? [];
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
export const upstreamsFile = (settings: GatewaySettings): string[] =>
  services.flatMap((service) => {
    const places = settings.upstreams[service];
    if (places === undefined || lookedUp(service, settings) !== undefined) return [];
    return block(
      `upstream ${service}`,
      serverLines(places),
      // As many as one client may have running requests by default; further requests open new connections.
      'keepalive 256;',
      // Shorter than DRAIN_MS of the services: a stopping instance then has no idle connection left to close, on which a
      // POST could be lost.
      'keepalive_timeout 1s;',
    );
  });

/**
 * Passes the request to a service, byte for byte, or asks it for another document. Without a server for the service the
 * response is 503. (nginx ignores what follows a `rewrite … break`, so that comes last.)
 */
export const passTo = (service: string, settings: GatewaySettings, document?: string): string[] => {
  if (settings.upstreams[service] === undefined) return [tryNothing('=503')];
  const name = lookedUp(service, settings);
  return linesOf(
    name !== undefined && `set $place ${name};`,
    document !== undefined && `rewrite ^ ${document}? break;`,
    `proxy_pass http://${name === undefined ? service : '$place'};`,
  );
};
