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

/** Names of all services and cells, in the order of the list. */
export const services: readonly string[] = deployments.map(({ name }) => name);

/** The prefix of a cell in public addresses, which the gateway removes; undefined for other services. */
export const prefixOf = (service: string): string | undefined =>
  deployments.find(({ name }) => name === service)?.prefix || undefined;

const escape = (text: string): string => text.replaceAll(/[.+?()[\]{}|\\^$]/g, String.raw`\$&`);

const pattern = (path: string, end: string): string => `"~^${escape(path).replaceAll('*', '[^/?]+')}${end}"`;

const segmentEnd = String.raw`(?:[/?]|\z)`;
const pathEnd = String.raw`(?:\?|\z)`;

/** JSON documents of the services, each with its exact public address (`path`) and its path at the service (`document`). */
export const documents = deployments.flatMap(({ name: service, image, prefix }) =>
  Object.entries({
    [`${prefix}/openapi/${image}.json`]: '/openapi.json',
    [`/docs/status/${service}`]: '/ops/status',
    [`/docs/ops/caller/${service}`]: '/ops/caller',
    [`/docs/ops/summary/${service}`]: '/ops/summary',
    [`/docs/ops/alerts/${service}`]: '/ops/alerts',
  }).map(([path, document]) => ({ path, service, document })),
);

/** Every route, with a pattern that its requests match. The first match counts, so exact routes come first. */
const patterns: readonly { path: string; pattern: string; service: string }[] = [
  ...routes
    .toSorted((first, second) => Number(second.exact ?? false) - Number(first.exact ?? false))
    .map(({ path, service, exact }) => ({
      path,
      service,
      pattern: pattern(path, exact ? `/?${pathEnd}` : segmentEnd),
    })),
  ...documents.map(({ path, service }) => ({ path, service, pattern: pattern(path, pathEnd) })),
  { path: '/healthz', service: 'gateway', pattern: pattern('/healthz', pathEnd) },
  ...['/docs', '/account'].map((path) => ({ path, service: 'gateway', pattern: pattern(path, segmentEnd) })),
  { path: '/', service: 'gateway', pattern: pattern('/', pathEnd) },
];

/**
 * The route of a request. Services receive the path as the client sent it, so the map does not use the path that nginx has
 * normalized: another spelling (`//`, `/x/../`, `%76`) matches no route.
 */
const routeMap = (): string[] =>
  block(
    'map $request_uri $route',
    'default "";',
    '"~#" "";',
    String.raw`"~*^[^?]*(?:/|%2f)(?:\.|%2e){1,2}(?:[/?]|%2f|\z)" "";`,
    patterns.map((route) => `${route.pattern} ${route.path};`),
  );

/** The service of a request; empty if the address matches no route. */
const serviceMap = (): string[] =>
  block(
    'map $route $service',
    'default "";',
    patterns.map(({ path, service }) => `${path} ${service};`),
  );

/** A segment that may be logged: as long as a UUID (36) at most, and so shorter than a webhook token (43 or more). */
const loggedSegment = String.raw`/[A-Za-z0-9._~-]{0,36}(?=[/?]|\z)`;

/** The path that is logged: no query, and nothing after an unusual character or the sixteenth segment. */
const loggedPathMap = (): string[] => {
  const secrets = routes.filter(({ secret }) => secret).map(({ path }) => path);
  return block(
    'map $request_uri $logged_path',
    'default "";',
    '"" "";',
    '# Logged whole, because no part of these paths comes from the client. Some contain a word that is masked below.',
    `"~^(?<document>${documents.map(({ path }) => escape(path)).join('|')})${pathEnd}" $document;`,
    secrets.map((path) => `"~^${path}/(?<event>[a-z_-]{1,40})/" "${path}/$event/***";`),
    '# Masked in upper or lower case, anywhere in the path.',
    [...new Set(secrets.map((path) => `"~*^[^?]*${path.split('/').at(-1)}" "/***";`))],
    String.raw`"~^(?<whole_path>(?:${loggedSegment}){1,16})(?:\?|\z)" $whole_path;`,
    `"~^(?<beginning>(?:${loggedSegment}){0,16})" "$beginning/***";`,
  );
};

/** The request target without the prefix of the cell, otherwise unchanged. Generated only if there are cells. */
const cellTargetMap = (): string[] =>
  deployments.some(({ prefix }) => prefix !== '')
    ? block(
        'map $request_uri $cell_target',
        'default "";',
        String.raw`"~^/cells/[a-z0-9]+(?<cell_path>/.*)\z" $cell_path;`,
      )
    : [];

/** Renders routes.conf: the variables that depend on the list of routes. */
export const routesFile = (): string[] => [
  // Large enough for the longest path in the map of $service.
  'map_hash_bucket_size 128;',
  ...routeMap(),
  ...serviceMap(),
  ...loggedPathMap(),
  ...cellTargetMap(),
];

/** The location directive of a route. $route has already checked the spelling of the path. */
export const locationOf = ({ path, exact }: Pick<Route, 'path' | 'exact'>): string => {
  if (!exact) return `location ${path}`;
  return path.includes('*')
    ? `location ~ ${pattern(path, String.raw`/?\z`).replace('~', '')}`
    : `location = ${path}`;
};
