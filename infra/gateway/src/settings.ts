import { block, linesOf, quoted, type Lines } from './directives.ts';
import type { GatewayOptions, GatewaySettings } from './options.ts';

/** File of the error log, also for `nginx -e`. */
export const errorLogFile = ({ logDir }: Pick<GatewayOptions, 'logDir'>): string =>
  logDir === undefined ? 'stderr' : `${logDir}/error.log`;

const errorLog = (settings: GatewaySettings, level: string): string => {
  const file = errorLogFile(settings);
  return `error_log ${file === 'stderr' ? file : quoted(file)} ${level};`;
};

/** Renders process.conf: the processes of nginx and their error log. */
export const processFile = (settings: GatewaySettings): string[] =>
  linesOf(
    settings.user !== undefined && `user ${settings.user};`,
    `worker_processes ${settings.workers};`,
    errorLog(settings, 'error'),
  );

const timeouts = ({ timeouts: ms, resolverFile }: GatewaySettings): Lines => [
  `client_header_timeout ${ms.header}ms;`,
  `client_body_timeout ${ms.body}ms;`,
  `send_timeout ${ms.send}ms;`,
  `keepalive_timeout ${ms.keepAlive}ms;`,
  `proxy_connect_timeout ${ms.connect}ms;`,
  `proxy_send_timeout ${ms.answer}ms;`,
  `proxy_read_timeout ${ms.answer}ms;`,
  resolverFile !== undefined && [`include ${quoted(resolverFile)};`, `resolver_timeout ${ms.connect}ms;`],
];

/** Trusts X-Forwarded-For and X-Forwarded-Proto of these networks. */
const trustedProxies = ({ trustedProxies: networks }: GatewaySettings): Lines => [
  networks.map((network) => `set_real_ip_from ${network};`),
  networks.length > 0 && ['real_ip_header X-Forwarded-For;', 'real_ip_recursive on;'],
  block(
    'geo $realip_remote_addr $trusted',
    'default 0;',
    networks.map((network) => `${network} 1;`),
  ),
];

/** Lets pages of these origins read error responses of the gateway. */
const crossOrigin = ({ corsOrigins: origins }: GatewaySettings): string[] => [
  ...block(
    'map $http_origin $cors_origin',
    'default "";',
    origins.map((origin) => `"${origin}" "${origin}";`),
  ),
  ...block('map $host $cors_vary', `default "${origins.length > 0 ? 'Origin' : ''}";`),
];

/** Origins to which the scripts of a page may send requests: for the operations page also the OpenID provider. */
const connectSources = ({ signIn }: GatewaySettings): string[] =>
  block(
    'map $uri $connect_sources',
    `default "'self'";`,
    signIn && `"~^/docs/ops/" "'self' ${new URL(signIn.issuer).origin}";`,
  );

/** The variables $is_inner (the port is for an inner network) and $has_portal (the port serves the portal). */
const listeners = ({ innerListen = [], portal }: GatewaySettings): string[] => {
  const inner = [...new Set(innerListen.map((address) => `${address.split(':').at(-1)} 1;`))];
  return [
    ...block('map $server_port $is_inner', 'default 0;', inner),
    ...block('map $server_port $has_portal', portal === 'public' ? 'default 1;' : ['default 0;', ...inner]),
  ];
};

/** Renders settings.conf: the settings that differ between deployments. */
export const settingsFile = (settings: GatewaySettings): string[] => {
  const { logDir, secretFile, telemetry, rateLimit, requestLog } = settings;
  const accessLog = logDir === undefined ? '/dev/stdout' : `${logDir}/access.log`;
  return linesOf(
    timeouts(settings),
    trustedProxies(settings),
    crossOrigin(settings),
    connectSources(settings),
    listeners(settings),
    secretFile === undefined ? 'proxy_set_header X-Gateway-Secret "";' : `include ${quoted(secretFile)};`,
    rateLimit && `limit_req_zone $client_network zone=requests:10m rate=${rateLimit.perSecond}r/s;`,
    block(
      'map "$is_kept$is_failure" $is_logged',
      'default 1;',
      requestLog === 'failures' ? '"~^0|0$" 0;' : '"~^0" 0;',
    ),
    // Buffered, because writing each line separately would cost more than formatting it.
    ['short', 'traced', 'long'].map(
      (format) => `access_log ${quoted(accessLog)} ${format} buffer=64k flush=200ms if=$is_${format}_line;`,
    ),
    telemetry !== undefined && `access_log syslog:server=${telemetry},nohostname,tag=gateway telemetry;`,
  );
};

/**
 * Listen addresses, the certificate and the error log of requests. The level emerg logs nothing about requests, because
 * each entry would contain the request line and the referrer, which may contain tokens; the access log has the same
 * information without them. (With /dev/null instead, nginx as root would change its owner when it reopens its logs.)
 */
export const listenSettings = (settings: GatewaySettings): Lines => {
  // Limits unsent data in kernel buffers, which could otherwise grow to megabytes per connection (docs/adr/0101).
  const options = 'default_server sndbuf=256k';
  const { listen, innerListen = [], tls } = settings;
  return [
    [...listen, ...innerListen].map((address) => `listen ${address} ${options};`),
    tls && [
      tls.listen.map((address) => `listen ${address} ssl http2 ${options};`),
      'include tls.conf;',
      `ssl_certificate ${quoted(tls.certificate)};`,
      `ssl_certificate_key ${quoted(tls.key)};`,
    ],
    errorLog(settings, 'emerg'),
  ];
};
