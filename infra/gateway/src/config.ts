import { addressMaps, refuseUnrouted } from './addresses.ts';
import { block, duration, quoted } from './directives.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import { clientLimits } from './limits.ts';
import { locations } from './locations.ts';
import { accessLog, processLog, silence } from './logs.ts';
import { checkOptions, defaultTimeouts, listed, type GatewayOptions } from './options.ts';
import { problemLocations, problemMaps } from './problems.ts';
import { upstreamBlocks } from './upstreams.ts';

const types: Record<string, string> = {
  'text/html': 'html',
  'text/css': 'css',
  'text/javascript': 'js mjs',
  'text/plain': 'txt md',
  'application/json': 'json map',
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/x-icon': 'ico',
  'image/webp': 'webp',
  'font/woff2': 'woff2',
};

/**
 * Connections of one worker, clients' and services' together: far more than one client can hold for long, at half a
 * kilobyte each. Each may need a second file descriptor.
 */
const connections = 16_384;

const files = ({ runDir }: GatewayOptions): string[] =>
  ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${quoted(`${runDir}/${kind}`)};`,
  );

const limits = (options: GatewayOptions): string[] => {
  const { header, body, send, keepAlive, connect, answer } = { ...defaultTimeouts, ...options.timeouts };
  return [
    `client_header_timeout ${duration(header)};`,
    `client_body_timeout ${duration(body)};`,
    `send_timeout ${duration(send)};`,
    `keepalive_timeout ${duration(keepAlive)};`,
    'reset_timedout_connection on;',
    `proxy_connect_timeout ${duration(connect)};`,
    `proxy_send_timeout ${duration(answer)};`,
    `proxy_read_timeout ${duration(answer)};`,
    '# A request line with a target of 8,192 bytes fits; a longer one is 414.',
    'client_header_buffer_size 2k;',
    'large_client_header_buffers 4 8216;',
    'client_max_body_size 100k;',
    'client_body_buffer_size 16k;',
    '# Bodies go to the services as they come, so that one is read only after the service has authenticated its caller,',
    '# and nothing of a request or a response is ever written to a file.',
    'proxy_request_buffering off;',
    'proxy_max_temp_file_size 0;',
    'proxy_buffer_size 16k;',
    'proxy_buffers 8 16k;',
    '# Another server is asked only when one could not be reached or broke off, and never with a POST or PATCH that',
    '# has already been sent.',
    'proxy_next_upstream error;',
    'proxy_next_upstream_tries 2;',
    ...clientLimits(options),
  ];
};

const compression: readonly string[] = [
  'gzip on;',
  'gzip_vary on;',
  'gzip_proxied any;',
  'gzip_min_length 1024;',
  'gzip_types application/json application/problem+json text/css text/javascript text/plain image/svg+xml;',
];

const server = (options: GatewayOptions): string[] =>
  block(
    'server',
    listed(options.listen).map((at) => `listen ${at} default_server;`),
    'server_name gateway;',
    silence(options),
    '',
    refuseUnrouted(),
    '',
    problemLocations(),
    '',
    locations(options),
  );

const http = (options: GatewayOptions): string[] =>
  block(
    'http',
    files(options),
    'server_tokens off;',
    'merge_slashes off;',
    'underscores_in_headers off;',
    'absolute_redirect off;',
    'default_type application/octet-stream;',
    block(
      'types',
      Object.entries(types).map(([type, endings]) => `${type} ${endings};`),
    ),
    options.resolver === undefined
      ? []
      : [
          `resolver ${options.resolver};`,
          `resolver_timeout ${duration({ ...defaultTimeouts, ...options.timeouts }.connect)};`,
        ],
    '',
    addressMaps(),
    problemMaps(),
    requestHeaders(options),
    responseHeaders(),
    '',
    accessLog(options),
    '',
    limits(options),
    compression,
    '',
    upstreamBlocks(options),
    server(options),
  );

/**
 * The whole nginx configuration (nginx 1.22 or later), in one text without includes. Upstreams of services that have
 * no route are left aside: such a service has no public address.
 * @throws an Error that names every wrong option
 */
export const renderConfig = (options: GatewayOptions): string => {
  checkOptions(options);
  const { user, workers = 1, runDir } = options;
  const lines = [
    '# Made by infra/gateway from its list of routes; changes belong there.',
    'daemon off;',
    ...(user === undefined ? [] : [`user ${user};`]),
    `worker_processes ${workers};`,
    `worker_rlimit_nofile ${connections * 2};`,
    'worker_shutdown_timeout 10s;',
    `pid ${quoted(`${runDir}/nginx.pid`)};`,
    `lock_file ${quoted(`${runDir}/nginx.lock`)};`,
    processLog(options),
    ...block('events', `worker_connections ${connections};`),
    ...http(options),
  ];
  return `${lines.join('\n')}\n`;
};
