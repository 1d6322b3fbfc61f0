import { documents, locationOf, routes, type Route } from './addresses.ts';
import { block, linesOf, quoted, tryNothing, type Lines } from './directives.ts';
import type { GatewaySettings } from './options.ts';
import { listenSettings } from './settings.ts';
import { passTo } from './upstreams.ts';

/** Webhooks and callbacks come from machines, many of which may share one address. */
const machineFactor = 4;

/** How many times the limit of one client the whole /48 of an IPv6 address may use. */
const siteFactor = 4;

/** Running requests of one client and of its /48. */
const connectionLimit = ({ connectionsPerClient }: GatewaySettings, factor = 1): string[] => [
  `limit_conn connections ${connectionsPerClient * factor};`,
  `limit_conn sites ${connectionsPerClient * factor * siteFactor};`,
];

/** The rate of one client, in a location whose requests go to a service. */
const rateLimit = ({ rateLimit: limit }: GatewaySettings): Lines =>
  limit && `limit_req zone=requests burst=${limit.burst} nodelay;`;

/** An import may run for minutes, and its client wants the result lines while it runs. */
const streaming = ['proxy_buffering off;', 'proxy_read_timeout 300s;', 'proxy_send_timeout 300s;'];

const routeLocation = (route: Route, settings: GatewaySettings): string[] =>
  block(
    locationOf(route),
    // The sender of a webhook may close the connection right after its last byte; the event counts.
    route.secret && 'proxy_ignore_client_abort on;',
    route.cookies && 'set $service_cookie $http_cookie;',
    route.maxBody && `client_max_body_size ${route.maxBody};`,
    route.stream && streaming,
    route.unlimited ? connectionLimit(settings, machineFactor) : rateLimit(settings),
    passTo(route.service, settings, { stream: route.stream ?? false }),
  );

/** The documents of the services, those of the portal with its pages only. */
const documentLocations = (settings: GatewaySettings): string[] =>
  documents
    .filter(({ path }) => !path.startsWith('/docs/') || settings.docsDir !== undefined)
    .flatMap(({ path, service, document }) =>
      block(`location = ${path}`, rateLimit(settings), passTo(service, settings, { document })),
    );

/** The pages of the portal; without its folder there are none. */
const portalLocations = ({ docsDir, demoServer, signIn }: GatewaySettings): Lines =>
  docsDir !== undefined && [
    'include portal.conf;',
    block('location = /docs/ops/sign-in.json', tryNothing('@sign_in')),
    block(
      'location @sign_in',
      'include page.conf;',
      'default_type application/json;',
      `return 200 '${JSON.stringify(signIn ?? null)}';`,
    ),
    block('location /docs/', `alias ${quoted(`${docsDir}/`)};`, 'include page.conf;'),
    // For the links in mails, so that everybody may see them, wherever the portal is.
    block('location /account/', `alias ${quoted(`${docsDir}/account/`)};`, 'include page.conf;'),
    block(
      'location = /docs/demo',
      demoServer === undefined
        ? tryNothing('=404')
        : ['client_max_body_size 1k;', `proxy_pass http://${demoServer};`],
    ),
    demoServer !== undefined && block('location = /docs/ops/mails', `proxy_pass http://${demoServer};`),
  ];

/** Redirects requests without TLS, after the limits of a client have been checked. */
const tlsRedirect = ({ tls }: GatewaySettings): Lines =>
  tls?.redirectTo !== undefined && [
    block('if ($needs_tls)', 'rewrite ^ /_problem/tls last;'),
    block('location = /_problem/tls', 'internal;', 'client_max_body_size 0;', tryNothing('@tls')),
    block('location @tls', `return 308 ${tls.redirectTo}$request_uri;`),
  ];

/** server.conf: where nginx listens, and a location for every address. */
export const serverFile = (settings: GatewaySettings): string[] =>
  linesOf(
    listenSettings(settings),
    // Every location inherits these, unless it states its own.
    connectionLimit(settings),
    "set $service_cookie '';",
    'include own.conf;',
    tlsRedirect(settings),
    portalLocations(settings),
    documentLocations(settings),
    routes.map((route) => routeLocation(route, settings)),
  );

/**
 * metrics.conf: a server that nginx answers by itself, so that Prometheus knows whether nginx runs. What its requests were
 * answered is counted by infra/gateway-telemetry.
 */
export const metricsFile = ({ metrics = [] }: GatewaySettings): string[] =>
  metrics.length === 0
    ? []
    : block(
        'server',
        metrics.map((address) => `listen ${address};`),
        'include metrics-page.conf;',
      );
