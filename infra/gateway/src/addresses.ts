import { deployments } from '@platform/service-list';
import type { ListedPath } from '@platform/service-list/read';
import { block } from './directives.ts';

/** A public address and its service. */
export interface Route extends ListedPath {
  service: string;
}

/** The public addresses of all services (services.yaml). */
export const routes: readonly Route[] = deployments.flatMap(({ name, paths }) =>
  paths.map((path) => ({ ...path, service: name })),
);

/** The services that have a public address, each once, in the order of the list. */
export const services: readonly string[] = deployments.map(({ name }) => name);

/** What the addresses of a service begin with that is a cell, and which it does not get. */
export const prefixOf = (service: string): string | undefined =>
  deployments.find(({ name }) => name === service)?.prefix || undefined;

const literal = (text: string): string => text.replaceAll(/[.+?()[\]{}|\\^$]/g, String.raw`\$&`);

const pattern = (path: string, end: string): string => `"~^${literal(path).replaceAll('*', '[^/?]+')}${end}"`;

const below = String.raw`(?:[/?]|\z)`;
const alone = String.raw`(?:\?|\z)`;

/** What the gateway hands out of all services, at exactly one address each: the address, and the path at the service. */
export const documents = deployments.flatMap(({ name: service, image, prefix }) =>
  Object.entries({
    [`${prefix}/openapi/${image}.json`]: '/openapi.json',
    [`/docs/status/${service}`]: '/ops/status',
    [`/docs/ops/caller/${service}`]: '/ops/caller',
    [`/docs/ops/summary/${service}`]: '/ops/summary',
    [`/docs/ops/alerts/${service}`]: '/ops/alerts',
  }).map(([path, document]) => ({ path, service, document })),
);

/** Every route with the pattern of its requests; the first that matches counts. */
const patterns: readonly { path: string; pattern: string; service: string }[] = [
  ...routes
    .toSorted((one, other) => Number(other.exact ?? false) - Number(one.exact ?? false))
    .map(({ path, service, exact }) => ({
      path,
      service,
      pattern: pattern(path, exact ? `/?${alone}` : below),
    })),
  ...documents.map(({ path, service }) => ({ path, service, pattern: pattern(path, alone) })),
  { path: '/healthz', service: 'gateway', pattern: pattern('/healthz', alone) },
  ...['/docs', '/account'].map((path) => ({ path, service: 'gateway', pattern: pattern(path, below) })),
  { path: '/', service: 'gateway', pattern: pattern('/', alone) },
];

/**
 * The route of a request, decided by the path as the client sent it, not as nginx normalizes it: services receive
 * exactly these bytes, so another spelling (`//`, `/x/../`, `%76`) belongs to no route.
 */
const routeMap = (): string[] =>
  block(
    'map $request_uri $route',
    'default "";',
    '"~#" "";',
    String.raw`"~*^[^?]*(?:/|%2f)(?:\.|%2e){1,2}(?:[/?]|%2f|\z)" "";`,
    patterns.map((one) => `${one.pattern} ${one.path};`),
  );

/** The service of a request; empty when the address belongs to none. */
const serviceMap = (): string[] =>
  block(
    'map $route $service',
    'default "";',
    patterns.map(({ path, service }) => `${path} ${service};`),
  );

/** A segment that is logged: shorter than a webhook token (256 bits, at least 43 characters), as long as a UUID. */
const segment = String.raw`/[A-Za-z0-9._~-]{0,36}(?=[/?]|\z)`;

/** Paths as they are logged: never a query, and nothing after an unusual character or the sixteenth segment. */
const loggedPathMap = (): string[] => {
  const secrets = routes.filter(({ secret }) => secret).map(({ path }) => path);
  return block(
    'map $request_uri $logged_path',
    'default "";',
    '"" "";',
    '# Whole addresses: nothing that a client wrote itself is logged. Some contain the word that is masked below.',
    `"~^(?<document>${documents.map(({ path }) => literal(path)).join('|')})${alone}" $document;`,
    secrets.map((path) => `"~^${path}/(?<event>[a-z_-]{1,40})/" "${path}/$event/***";`),
    '# In upper or lower case, anywhere in the path.',
    [...new Set(secrets.map((path) => `"~*^[^?]*${path.split('/').at(-1)}" "/***";`))],
    String.raw`"~^(?<shown>(?:${segment}){1,16})(?:\?|\z)" $shown;`,
    `"~^(?<beginning>(?:${segment}){0,16})" "$beginning/***";`,
  );
};

/** What a cell gets of a target: all that follows its prefix, byte for byte. Without cells nothing. */
const cellTargetMap = (): string[] =>
  deployments.some(({ prefix }) => prefix !== '')
    ? block(
        'map $request_uri $cell_target',
        'default "";',
        String.raw`"~^/cells/[a-z0-9]+(?<in_cell>/.*)\z" $in_cell;`,
      )
    : [];

/** routes.conf: the variables that depend on the list of routes. */
export const routesFile = (): string[] => [
  // For the longest path of $service.
  'map_hash_bucket_size 128;',
  ...routeMap(),
  ...serviceMap(),
  ...loggedPathMap(),
  ...cellTargetMap(),
];

/** The location of a route; $service has already checked the spelling of the path. */
export const locationOf = ({ path, exact }: Pick<Route, 'path' | 'exact'>): string => {
  if (!exact) return `location ${path}`;
  return path.includes('*')
    ? `location ~ ${pattern(path, String.raw`/?\z`).replace('~', '')}`
    : `location = ${path}`;
};
