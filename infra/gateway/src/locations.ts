import { locationOf } from './addresses.ts';
import { block, duration } from './directives.ts';
import type { GatewayOptions } from './options.ts';
import { requestLimits } from './limits.ts';
import { portal } from './portal.ts';
import { routes, services, type Route } from './routes.ts';
import { passTo } from './upstreams.ts';

/** An import may run for minutes, and its result lines are wanted while it runs. */
const streaming: readonly string[] = [
  'proxy_buffering off;',
  'gzip off;',
  `proxy_read_timeout ${duration(300_000)};`,
  `proxy_send_timeout ${duration(300_000)};`,
];

const routeLocation = (route: Route, options: GatewayOptions): string[] => {
  const { path, exact = false, maxBody, secret, stream, service } = route;
  return block(
    locationOf(path, exact),
    // A sender that hangs up after its last byte has still delivered.
    secret ? ['proxy_ignore_client_abort on;'] : [],
    maxBody ? [`client_max_body_size ${maxBody};`] : [],
    stream ? streaming : [],
    requestLimits(options, route),
    passTo(service, options),
  );
};

const documents = (options: GatewayOptions): string[] =>
  services.flatMap((service) =>
    block(
      `location = /openapi/${service}.json`,
      requestLimits(options),
      passTo(service, options, '/openapi.json'),
    ),
  );

/** Every address of the gateway. */
export const locations = (options: GatewayOptions): string[] => [
  ...block(
    'location = /healthz',
    'access_log off;',
    'default_type application/json;',
    `return 200 '{"status":"ok"}';`,
  ),
  ...portal(options),
  ...documents(options),
  ...routes.flatMap((route) => routeLocation(route, options)),
  ...block('location = /', options.docsDir === undefined ? 'return 404;' : 'return 308 /docs/;'),
  ...block('location /', 'return 404;'),
];
