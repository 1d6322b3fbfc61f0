import { block, quoted } from './directives.ts';
import type { GatewayOptions } from './options.ts';
import { routes } from './routes.ts';
import { spanLog } from './traces.ts';

/** Where both logs go; `nginx -e` takes the first. */
export const errorLogFile = ({ logDir }: GatewayOptions): string =>
  logDir === undefined ? 'stderr' : `${logDir}/error.log`;

const accessLogFile = ({ logDir }: GatewayOptions): string =>
  logDir === undefined ? '/dev/stdout' : `${logDir}/access.log`;

const errorLogAt = (options: GatewayOptions, level: string): string => {
  const file = errorLogFile(options);
  return `error_log ${file === 'stderr' ? file : quoted(file)} ${level};`;
};

/** What happens to nginx itself: starts, crashes of workers, name servers that do not answer. */
export const processLog = (options: GatewayOptions): string => errorLogAt(options, 'error');

/**
 * What happens to requests stays out of the error log: each entry repeats the request line and the referrer, and either
 * may hold a token. The access log says the same without them. The level is one at which nothing is logged; not
 * /dev/null, as nginx as root changes the owner of that file when it is told to open its logs again.
 */
export const silence = (options: GatewayOptions): string => errorLogAt(options, 'emerg');

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
    field('trace_id', '$trace_id'),
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
  ...spanLog(options),
];
