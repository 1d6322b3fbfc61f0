import { block, quoted } from './directives.ts';
import type { GatewayOptions } from './options.ts';
import { routes } from './routes.ts';

/** Where both logs go; `nginx -e` takes the first. */
export const errorLogFile = ({ logDir }: GatewayOptions): string =>
  logDir === undefined ? 'stderr' : `${logDir}/error.log`;

const accessLogFile = ({ logDir }: GatewayOptions): string =>
  logDir === undefined ? '/dev/stdout' : `${logDir}/access.log`;

/** The error log of ordinary requests. Each entry repeats the request line, so secret addresses use `silent`. */
export const errorLog = (options: GatewayOptions): string =>
  `error_log ${errorLogFile(options) === 'stderr' ? 'stderr' : quoted(errorLogFile(options))} error;`;

/**
 * No request is ever logged at this level. Not /dev/null: nginx as root would change that file's owner when told to
 * open its logs again.
 */
export const silent = (options: GatewayOptions): string => errorLog(options).replace(/error;$/, 'emerg;');

/** A segment that is shown: too short for a webhook token (256 bits, at least 43 characters), long enough for a UUID. */
const segment = String.raw`/[A-Za-z0-9._~-]{0,36}(?=[/?]|\z)`;

/** Paths as they are logged: never a query, and nothing that follows something odd. */
const pathMap = (): string[] => {
  const secrets = routes.filter(({ secret }) => secret).map(({ path }) => path);
  return block(
    'map $request_uri $logged_path',
    'default "";',
    '"" "";',
    secrets.flatMap((path) => [
      `"~^${path}/(?<event>[a-z_-]{1,40})/" "${path}/$event/***";`,
      // However it is spelled, and wherever in the path.
      `"~*^[^?]*${path.split('/').at(-1)}" "/***";`,
    ]),
    String.raw`"~^(?<shown>(?:${segment})+)(?:\?|\z)" $shown;`,
    `"~^(?<beginning>(?:${segment})*)" "$beginning/***";`,
  );
};

const field = (name: string, variable: string): string => `'"${name}":"${variable}",'`;

/** One JSON object a line. No query, no referrer, no header that carries a credential. */
export const accessLog = (options: GatewayOptions): string[] => [
  ...pathMap(),
  '# 000 and 009 (HTTP/0.9) are not numbers in JSON.',
  ...block('map $status $logged_status', '"~^0" 0;', 'default $status;'),
  "log_format lines escape=json '{'",
  ...[
    field('time', '$time_iso8601'),
    field('requestId', '$correlation_id'),
    field('client', '$remote_addr'),
    field('method', '$request_method'),
    field('path', '$logged_path'),
    `'"status":$logged_status,'`,
    field('service', '$service'),
    field('upstream', '$upstream_addr'),
    field('upstreamStatus', '$upstream_status'),
    field('upstreamSeconds', '$upstream_response_time'),
    `'"seconds":$request_time,'`,
    `'"bytesReceived":$request_length,'`,
    `'"bytesSent":$bytes_sent,'`,
    field('protocol', '$server_protocol'),
    `'"userAgent":"$http_user_agent"}';`,
  ].map((line) => `    ${line}`),
  `access_log ${quoted(accessLogFile(options))} lines;`,
];
