import { block, quoted } from './directives.ts';
import type { GatewayOptions } from './options.ts';
import { traceHeaders, traceMaps } from './traces.ts';

/** Who is calling, through proxies that are trusted and through no others. */
const client = (trusted: readonly string[]): string[] => {
  if (trusted.length === 0) return [...block('map $scheme $forwarded_proto', 'default $scheme;')];
  return [
    ...trusted.map((network) => `set_real_ip_from ${network};`),
    'real_ip_header X-Forwarded-For;',
    'real_ip_recursive on;',
    ...block(
      'geo $realip_remote_addr $trusted',
      'default 0;',
      trusted.map((network) => `${network} 1;`),
    ),
    ...block(
      'map "$trusted $http_x_forwarded_proto" $forwarded_proto',
      'default $scheme;',
      '"1 https" https;',
      '"1 http" http;',
    ),
  ];
};

/** What a caller may not say of itself, as some library behind us might believe it. */
const unheard = [
  'Forwarded',
  'X-Forwarded-Port',
  'X-Forwarded-Prefix',
  'X-Forwarded-Server',
  'X-Real-IP',
  'X-Original-URL',
  'X-Rewrite-URL',
  'Proxy',
];

/** Variables and header fields of what goes to a service. */
export const requestHeaders = ({ trustedProxies = [], secretFile }: GatewayOptions): string[] => [
  ...client(trustedProxies),
  ...block(
    'map $http_x_request_id $correlation_id',
    'default $request_id;',
    String.raw`"~^[A-Za-z0-9._-]{1,128}\z" $http_x_request_id;`,
  ),
  '# The host of an absolute request target wins over the Host field (RFC 9112, 3.2.2); otherwise keep its port.',
  ...block(
    'map "$host $http_host" $asked_host',
    'default $host;',
    String.raw`"~*^(?<name>\S+) (?<host_and_port>\k<name>(?::\d+)?)\z" $host_and_port;`,
  ),
  '# gzip weakens an ETag on its way out, but If-Match only holds for a strong one: undo it on its way in.',
  ...block(
    'map $http_if_match $strong_if_match',
    'default $http_if_match;',
    String.raw`"~^W/(?<tag>\x22[^\x22]*\x22)\z" $tag;`,
  ),
  ...traceMaps(),
  '',
  'proxy_http_version 1.1;',
  'proxy_set_header Connection "";',
  'proxy_set_header Host $asked_host;',
  'proxy_set_header X-Request-Id $correlation_id;',
  'proxy_set_header X-Forwarded-For $remote_addr;',
  'proxy_set_header X-Forwarded-Proto $forwarded_proto;',
  'proxy_set_header X-Forwarded-Host $asked_host;',
  'proxy_set_header If-Match $strong_if_match;',
  secretFile === undefined ? 'proxy_set_header X-Gateway-Secret "";' : `include ${quoted(secretFile)};`,
  ...traceHeaders,
  ...unheard.map((name) => `proxy_set_header ${name} "";`),
];

/** The request id is answered once, by us, whether the service repeats it or not. */
export const responseHeaders = (): string[] => [
  'proxy_hide_header X-Request-Id;',
  'proxy_hide_header X-Powered-By;',
  '# A service does not get to serve our files.',
  'proxy_ignore_headers X-Accel-Redirect;',
  'add_header X-Request-Id $correlation_id always;',
];
