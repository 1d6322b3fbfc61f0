import { documents, locationOf, routes, type Route } from './addresses.ts';
import { block, linesOf, quoted, continueWith, type Lines } from './directives.ts';
import type { GatewaySettings } from './options.ts';
import { listenSettings } from './settings.ts';
import { passTo } from './upstreams.ts';

/** Factor of the limits for webhooks and callbacks: many machines that send them may share one address. */
const machineFactor = 4;

/** Factor of the limits for the whole /48 of an IPv6 address. */
const siteFactor = 4;

/** Limits of concurrent requests for one client and for its /48. */
const connectionLimit = ({ connectionsPerClient }: GatewaySettings, factor = 1): string[] => [
  `limit_conn connections ${connectionsPerClient * factor};`,
  `limit_conn sites ${connectionsPerClient * factor * siteFactor};`,
];

/** Limit of one client's request rate, for locations that pass requests to a service. */
const rateLimit = ({ rateLimit: limit }: GatewaySettings): Lines =>
  limit && `limit_req zone=requests burst=${limit.burst} nodelay;`;

/** An import may run for minutes, and its client reads the result lines while it runs. */
const streaming = ['proxy_buffering off;', 'proxy_read_timeout 300s;', 'proxy_send_timeout 300s;'];

const routeLocation = (route: Route, settings: GatewaySettings): string[] =>
  block(
    locationOf(route),
    // The sender of a webhook may close the connection right after its last byte; the event is still delivered.
    route.secret && 'proxy_ignore_client_abort on;',
    route.cookies && 'set $service_cookie $http_cookie;',
    route.maxBody && `client_max_body_size ${route.maxBody};`,
    route.stream && streaming,
    route.unlimited ? connectionLimit(settings, machineFactor) : rateLimit(settings),
    passTo(route.service, settings, { stream: route.stream ?? false }),
  );

/** Locations of the services' documents; those below /docs exist only with a portal. */
const documentLocations = (settings: GatewaySettings): string[] =>
  documents
    .filter(({ path }) => !path.startsWith('/docs/') || settings.docsDir !== undefined)
    .flatMap(({ path, service, document }) =>
      block(`location = ${path}`, rateLimit(settings), passTo(service, settings, { document })),
    );

/** Locations of the portal, if it has a folder. */
const portalLocations = ({ docsDir, demoServer, signIn }: GatewaySettings): Lines =>
  docsDir !== undefined && [
    'include portal.conf;',
    block('location = /docs/ops/sign-in.json', continueWith('@sign_in')),
    block(
      'location @sign_in',
      'include page.conf;',
      'default_type application/json;',
      `return 200 '${JSON.stringify(signIn ?? null)}';`,
    ),
    block('location /docs/', `alias ${quoted(`${docsDir}/`)};`, 'include page.conf;'),
    // Links in mails lead to these pages, so they are public even if the portal is internal.
    block('location /account/', `alias ${quoted(`${docsDir}/account/`)};`, 'include page.conf;'),
    block(
      'location = /docs/demo',
      demoServer === undefined
        ? continueWith('=404')
        : ['client_max_body_size 1k;', `proxy_pass http://${demoServer};`],
    ),
    demoServer !== undefined && block('location = /docs/ops/mails', `proxy_pass http://${demoServer};`),
  ];

/** Redirects requests without TLS after nginx has checked the limits of the client. */
const tlsRedirect = ({ tls }: GatewaySettings): Lines =>
  tls?.redirectTo !== undefined && [
    block('if ($needs_tls)', 'rewrite ^ /_problem/tls last;'),
    block('location = /_problem/tls', 'internal;', 'client_max_body_size 0;', continueWith('@tls')),
    block('location @tls', `return 308 ${tls.redirectTo}$request_uri;`),
  ];

/** Renders server.conf: the listen addresses and a location for every public address. */
export const serverFile = (settings: GatewaySettings): string[] =>
  linesOf(
    listenSettings(settings),
    // Every location inherits these unless it sets its own.
    connectionLimit(settings),
    "set $service_cookie '';",
    'include gateway-responses.conf;',
    tlsRedirect(settings),
    portalLocations(settings),
    documentLocations(settings),
    routes.map((route) => routeLocation(route, settings)),
  );

/**
 * Renders metrics.conf: a server that nginx answers itself, so that Prometheus sees whether nginx runs.
 * infra/gateway-telemetry counts the requests of clients.
 */
export const metricsFile = ({ metrics = [] }: GatewaySettings): string[] =>
  metrics.length === 0
    ? []
    : block(
        'server',
        metrics.map((address) => `listen ${address};`),
        'include metrics-page.conf;',
      );
