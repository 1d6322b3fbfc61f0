import { locationOf, portalDocuments } from './addresses.ts';
import { block, duration, quoted } from './directives.ts';
import { defaultConnections, type GatewayOptions } from './options.ts';
import { routes, services, type Route } from './routes.ts';
import { listenSettings } from './settings.ts';
import { passTo } from './upstreams.ts';

/** Webhooks and callbacks come from machines, many of which may share one address. */
const machineFactor = 4;

/** Limits of one client, in a location whose requests go to a service. */
const clientLimits = (
  { rateLimit, connectionsPerClient = defaultConnections }: GatewayOptions,
  { unlimited }: Pick<Route, 'unlimited'> = {},
): string[] => [
  `limit_conn connections ${unlimited ? connectionsPerClient * machineFactor : connectionsPerClient};`,
  ...(rateLimit && !unlimited ? [`limit_req zone=requests burst=${rateLimit.burst} nodelay;`] : []),
];

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
  if (docsDir === undefined) return block('location /docs', 'return 404;');
  const demo =
    demoServer === undefined
      ? ['return 404;']
      : ['client_max_body_size 1k;', `proxy_pass http://${demoServer};`];
  return [
    ...block('location = /', 'return 308 /docs/;'),
    ...block('location = /docs', 'return 308 /docs/;'),
    ...block('location /docs/', `alias ${quoted(`${docsDir}/`)};`, 'include page.conf;'),
    ...block('location = /docs/demo', demo),
    ...Object.entries(portalDocuments).flatMap(([path, document]) =>
      services.flatMap((service) => documentLocation(`${path}/${service}`, service, document, options)),
    ),
  ];
};

/** server.conf: where nginx listens, and a location for every address. */
export const serverFile = (options: GatewayOptions): string[] => [
  ...listenSettings(options),
  "set $service_cookie '';",
  ...block(
    'location = /healthz',
    'access_log off;',
    'default_type application/json;',
    `return 200 '{"status":"ok"}';`,
  ),
  ...portalLocations(options),
  ...services.flatMap((service) =>
    documentLocation(`/openapi/${service}.json`, service, '/openapi.json', options),
  ),
  ...routes.flatMap((route) => routeLocation(route, options)),
  ...block('location /', 'return 404;'),
];
