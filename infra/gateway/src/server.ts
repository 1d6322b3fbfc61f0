import { locationOf, portalDocuments } from './addresses.ts';
import { block, duration, quoted, tryNothing } from './directives.ts';
import { defaultConnections, type GatewayOptions } from './options.ts';
import { routes, services, type Route } from './routes.ts';
import { listenSettings } from './settings.ts';
import { passTo } from './upstreams.ts';

/** Webhooks and callbacks come from machines, many of which may share one address. */
const machineFactor = 4;

/** Requests of one client to /healthz that may be running at the same time. */
const probesPerClient = 16;

/** How many times the limit of one client the whole /48 of an IPv6 address may use. */
const siteFactor = 4;

/** Limit of one client and of its /48, in a location that nginx answers itself. */
const connectionLimit = (
  { connectionsPerClient = defaultConnections }: GatewayOptions,
  factor = 1,
): string[] => [
  `limit_conn connections ${connectionsPerClient * factor};`,
  `limit_conn sites ${connectionsPerClient * factor * siteFactor};`,
];

/** Limits of one client, in a location whose requests go to a service. */
const clientLimits = (options: GatewayOptions, { unlimited }: Pick<Route, 'unlimited'> = {}): string[] => [
  ...connectionLimit(options, unlimited ? machineFactor : 1),
  ...(options.rateLimit && !unlimited
    ? [`limit_req zone=requests burst=${options.rateLimit.burst} nodelay;`]
    : []),
];

/**
 * A location that nginx answers itself. A bare `return` would end the request before the phase in which nginx checks
 * limits; `try_files` comes after it. (There is no file of this name, so its last argument counts.)
 */
const ownAnswer = (location: string, answer: string, ...directives: string[]): string[] =>
  block(`location ${location}`, ...directives, tryNothing(answer));

/** An import may run for minutes, and its client wants the result lines while it runs. */
const streaming: readonly string[] = [
  'proxy_buffering off;',
  'gzip off;',
  `proxy_read_timeout ${duration(300_000)};`,
  `proxy_send_timeout ${duration(300_000)};`,
];

const routeLocation = (route: Route, options: GatewayOptions): string[] =>
  block(
    locationOf(route),
    // The sender of a webhook may close the connection right after its last byte; the event counts.
    route.secret ? ['proxy_ignore_client_abort on;'] : [],
    route.cookies ? ['set $service_cookie $http_cookie;'] : [],
    route.maxBody ? [`client_max_body_size ${route.maxBody};`] : [],
    route.stream ? streaming : [],
    clientLimits(options, route),
    passTo(route.service, options),
  );

const documentLocation = (address: string, service: string, document: string, options: GatewayOptions) =>
  block(`location = ${address}`, clientLimits(options), passTo(service, options, document));

/** The portal; without its folder there is none. */
const portalLocations = (options: GatewayOptions): string[] => {
  const { docsDir, demoServer } = options;
  const limits = connectionLimit(options);
  if (docsDir === undefined) return ownAnswer('/docs', '=404', ...limits);
  const demo =
    demoServer === undefined
      ? tryNothing('=404')
      : ['client_max_body_size 1k;', `proxy_pass http://${demoServer};`];
  return [
    ...ownAnswer('= /', '@portal', ...limits),
    ...ownAnswer('= /docs', '@portal', ...limits),
    ...block('location @portal', 'return 308 /docs/;'),
    ...block('location /docs/', limits, `alias ${quoted(`${docsDir}/`)};`, 'include page.conf;'),
    ...block('location = /docs/demo', limits, demo),
    ...Object.entries(portalDocuments).flatMap(([path, document]) =>
      services.flatMap((service) => documentLocation(`${path}/${service}`, service, document, options)),
    ),
  ];
};

/** For the option tls.redirectTo. */
const redirectLocations = (options: GatewayOptions): string[] => {
  const { redirectTo } = options.tls ?? {};
  if (redirectTo === undefined) return [];
  return [
    ...ownAnswer(
      '= /_problem/tls',
      '@tls',
      'internal;',
      'client_max_body_size 0;',
      ...connectionLimit(options),
    ),
    ...block('location @tls', `return 308 ${redirectTo}$request_uri;`),
  ];
};

/** server.conf: where nginx listens, and a location for every address. */
export const serverFile = (options: GatewayOptions): string[] => [
  ...listenSettings(options),
  "set $service_cookie '';",
  // A count of its own: a client that has used up its limit elsewhere may be the one that probes.
  ...ownAnswer(
    '= /healthz',
    '@healthy',
    `limit_conn probes ${probesPerClient};`,
    `limit_conn probing_sites ${probesPerClient * siteFactor};`,
    'access_log off;',
  ),
  ...block(
    'location @healthy',
    'access_log off;',
    'default_type application/json;',
    `return 200 '{"status":"ok"}';`,
  ),
  ...redirectLocations(options),
  ...portalLocations(options),
  ...services.flatMap((service) =>
    documentLocation(`/openapi/${service}.json`, service, '/openapi.json', options),
  ),
  ...routes.flatMap((route) => routeLocation(route, options)),
  ...ownAnswer('/', '=404', ...connectionLimit(options)),
  // Addresses of no route (problems.conf): 404, however large the body is.
  ...ownAnswer(
    '= /_problem/unrouted',
    '=404',
    'internal;',
    'client_max_body_size 0;',
    ...connectionLimit(options),
  ),
];
