import { isIP } from 'node:net';
import { block } from './directives.ts';
import { listed, type GatewayOptions } from './options.ts';
import { services } from './routes.ts';

const isNumeric = (place: string): boolean => isIP(place.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) !== 0;

/** The one host name that nginx looks up again and again: it does so only for an address in a variable. */
const lookedUp = (service: string, { resolver, upstreams }: GatewayOptions): string | undefined => {
  const [first, ...others] = listed(upstreams[service]);
  return resolver !== undefined && first !== undefined && others.length === 0 && !isNumeric(first)
    ? first
    : undefined;
};

/** upstreams.conf: the servers of each service. */
export const upstreamsFile = (options: GatewayOptions): string[] =>
  services.flatMap((service) => {
    const places = listed(options.upstreams[service]);
    if (places.length === 0 || lookedUp(service, options) !== undefined) return [];
    // Without another server, excluding this one after a failure only makes its restart longer.
    const failures = places.length === 1 ? 'max_fails=0' : 'max_fails=2 fail_timeout=2s';
    return block(
      `upstream ${service}`,
      places.map((place) => `server ${place} ${failures};`),
      'keepalive 32;',
      // Shorter than the 75 s after which services close idle connections, so that no request meets a closing one.
      'keepalive_timeout 30s;',
    );
  });

/**
 * Passes the request to a service, byte for byte, or asks it for another document. Without a server for the service the
 * response is 503. (nginx ignores what follows a `rewrite … break`, so that comes last.)
 */
export const passTo = (service: string, options: GatewayOptions, document?: string): string[] => {
  if (listed(options.upstreams[service]).length === 0) return ['return 503;'];
  const name = lookedUp(service, options);
  return [
    ...(name === undefined ? [] : [`set $place ${name};`]),
    ...(document === undefined ? [] : [`rewrite ^ ${document}? break;`]),
    `proxy_pass http://${name === undefined ? service : '$place'};`,
  ];
};
