import { block } from './directives.ts';
import { askedOf } from './portal.ts';
import { routes, services } from './routes.ts';

const literal = (text: string): string => text.replaceAll(/[.+?()[\]{}|\\^$]/g, String.raw`\$&`);

const pattern = (path: string, end: string): string => `"~^${literal(path).replaceAll('*', '[^/?]+')}${end}"`;

const below = String.raw`(?:[/?]|\z)`;
const alone = String.raw`(?:\?|\z)`;

/**
 * Who answers a request, decided by the path as it was sent and not by what nginx makes of it: services get exactly
 * these bytes, so an address that is only spelled differently (`//`, `/x/../`, `%76`) belongs to nobody.
 */
export const addressMaps = (): string[] => [
  ...block(
    'map $request_uri $service',
    'default "";',
    '"~#" "";',
    String.raw`"~*^[^?]*(?:/|%2f)(?:\.|%2e){1,2}(?:[/?]|%2f|\z)" "";`,
    routes.filter(({ exact }) => !exact).map(({ path, service }) => `${pattern(path, below)} ${service};`),
    services.map((name) => `${pattern(`/openapi/${name}.json`, alone)} ${name};`),
    services.flatMap((name) => askedOf(name).map((path) => `${pattern(path, alone)} ${name};`)),
    `${pattern('/healthz', alone)} gateway;`,
    `${pattern('/docs', below)} gateway;`,
    `${pattern('/', alone)} gateway;`,
  ),
  '# Volatile, as both are asked again on the way to the problem, which must not be refused in its turn.',
  ...block(
    'map "$uri|$service" $unrouted',
    'volatile;',
    'default 0;',
    '"~^/_problem/" 0;',
    String.raw`"~\|\z" 1;`,
  ),
  '# HTTP/0.9 has no version, no header fields, and no place for a status.',
  ...block(
    'map "$server_protocol|$uri" $versionless',
    'volatile;',
    'default 0;',
    String.raw`"~^\|/_problem/" 0;`,
    String.raw`"~^\|" 1;`,
  ),
];

/** Turns away, before anything else looks at it, what has no address here. */
export const refuseUnrouted = (): string[] => [
  ...block('if ($versionless)', 'return 400;'),
  ...block('if ($unrouted)', 'return 404;'),
];

/** The location of a route; the part of the path before it is known to be spelled as in the list. */
export const locationOf = (path: string, exact: boolean): string => {
  if (!exact) return `location ${path}`;
  return path.includes('*')
    ? `location ~ ${pattern(path, String.raw`/?\z`).replace('~', '')}`
    : `location = ${path}`;
};
