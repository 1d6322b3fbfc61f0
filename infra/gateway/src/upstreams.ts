import { isIP } from 'node:net';
import { block } from './directives.ts';
import { listed, type GatewayOptions } from './options.ts';
import { services } from './routes.ts';

const isNumeric = (place: string): boolean => isIP(place.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) !== 0;

/** Names are looked up anew only where nginx reads the address from a variable, which has room for one. */
const lookedUp = (service: string, { resolver, upstreams }: GatewayOptions): string | undefined => {
  const [first, ...others] = listed(upstreams[service]);
  return resolver !== undefined && first !== undefined && others.length === 0 && !isNumeric(first)
    ? first
    : undefined;
};

/** The groups of servers behind the locations. */
export const upstreamBlocks = (options: GatewayOptions): string[] =>
  services.flatMap((service) => {
    const places = listed(options.upstreams[service]);
    if (places.length === 0 || lookedUp(service, options) !== undefined) return [];
    // Where there is no other server, shutting this one out after a failure only makes its restart longer.
    const patience = places.length === 1 ? 'max_fails=0' : 'max_fails=2 fail_timeout=2s';
    return block(
      `upstream ${service}`,
      places.map((place) => `server ${place} ${patience};`),
      'keepalive 32;',
      // Shorter than the 75 s after which services close, so that no request goes into a closing connection.
      'keepalive_timeout 30s;',
    );
  });

/**
 * Sends the request on, byte for byte, or asks for another document of the service when one is named. Without a server
 * for it, says so. (What stands after a rewrite with `break` is no longer carried out, so that comes last.)
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
