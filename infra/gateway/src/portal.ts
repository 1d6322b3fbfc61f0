import { block, quoted } from './directives.ts';
import type { GatewayOptions } from './options.ts';
import { requestLimits } from './limits.ts';
import { services } from './routes.ts';
import { passTo } from './upstreams.ts';

/** What the pages may load and do. Everything comes from here, and nothing that stands in a page itself is run. */
const policy = (styles: string, more: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...more,
  ].join('; ');

/** Text never becomes markup here: the browser itself refuses innerHTML and its like. */
const strict = policy("'self'", ["require-trusted-types-for 'script'", "trusted-types 'none'"]);

/**
 * Scalar puts its themes into the page as style elements that it makes as it runs, so that no hash is known before,
 * and renders descriptions as markup. Scripts are as strict as elsewhere.
 */
const scalar = policy("'self' 'unsafe-inline'", []);

const headers = (contentSecurityPolicy: string): string[] =>
  [
    ['Content-Security-Policy', contentSecurityPolicy],
    ['X-Request-Id', '$correlation_id'],
    ['X-Content-Type-Options', 'nosniff'],
    ['X-Frame-Options', 'DENY'],
    ['Referrer-Policy', 'no-referrer'],
    ['Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ['Cross-Origin-Resource-Policy', 'same-origin'],
    // Asked for again each time, answered with 304 while it is the same.
    ['Cache-Control', 'no-cache'],
  ].map(([name, value]) => `add_header ${name} "${value}" always;`);

const folder = (path: string, docsDir: string, contentSecurityPolicy: string): string[] =>
  block(
    `location /docs/${path}`,
    `alias ${quoted(`${docsDir}/${path}`)};`,
    'index index.html;',
    'max_ranges 0;',
    headers(contentSecurityPolicy),
  );

/** Exchanges the one-time code that `start` printed for the credentials of the demo (see checkOptions). */
const demo = ({ demoServer }: GatewayOptions): string[] =>
  block(
    'location = /docs/demo',
    ...(demoServer === undefined
      ? ['return 404;']
      : ['client_max_body_size 1k;', `proxy_pass http://${demoServer};`]),
  );

/** What the pages ask of each service beside its interface: whether it is ready, and what it has been doing. */
const questions: Readonly<Record<string, string>> = {
  '/docs/status': '/ops/status',
  '/docs/ops/summary': '/ops/summary',
};

const asked = (options: GatewayOptions): string[] =>
  Object.entries(questions).flatMap(([path, document]) =>
    services.flatMap((service) =>
      block(`location = ${path}/${service}`, requestLimits(options), passTo(service, options, document)),
    ),
  );

/** Where in the portal a service answers, as patterns of paths: the log then names it. */
export const askedOf = (service: string): string[] =>
  Object.keys(questions).map((path) => `${path}/${service}`);

/** The addresses of the portal; without its folder there are none. */
export const portal = (options: GatewayOptions): string[] => {
  const { docsDir } = options;
  if (docsDir === undefined) return block('location /docs', 'return 404;');
  return [
    ...block('location = /docs', 'return 308 /docs/;'),
    ...folder('', docsDir, strict),
    ...folder('reference/', docsDir, scalar),
    ...demo(options),
    ...asked(options),
  ];
};
