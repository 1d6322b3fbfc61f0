import { block, linesOf, quoted, type Lines } from './directives.ts';
import type { GatewayOptions, GatewaySettings } from './options.ts';

/** File of the error log; `nginx -e` takes it too. */
export const errorLogFile = ({ logDir }: Pick<GatewayOptions, 'logDir'>): string =>
  logDir === undefined ? 'stderr' : `${logDir}/error.log`;

const errorLog = (settings: GatewaySettings, level: string): string => {
  const file = errorLogFile(settings);
  return `error_log ${file === 'stderr' ? file : quoted(file)} ${level};`;
};

/** process.conf: the processes of nginx, and where they log what happens to nginx itself. */
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

/** Whose X-Forwarded-For and X-Forwarded-Proto count. */
const trustedProxies = ({ trustedProxies: networks }: GatewaySettings): Lines => [
  networks.map((network) => `set_real_ip_from ${network};`),
  networks.length > 0 && ['real_ip_header X-Forwarded-For;', 'real_ip_recursive on;'],
  block(
    'geo $realip_remote_addr $trusted',
    'default 0;',
    networks.map((network) => `${network} 1;`),
  ),
];

/** The origins whose pages may read the refusals of the gateway. */
const crossOrigin = ({ corsOrigins: origins }: GatewaySettings): string[] => [
  ...block(
    'map $http_origin $cors_origin',
    'default "";',
    origins.map((origin) => `"${origin}" "${origin}";`),
  ),
  ...block('map $host $cors_vary', `default "${origins.length > 0 ? 'Origin' : ''}";`),
];

/** Where the scripts of a page may send requests: the operations page to the OpenID provider, too. */
const connectSources = ({ signIn }: GatewaySettings): string[] =>
  block(
    'map $uri $connect_sources',
    `default "'self'";`,
    signIn && `"~^/docs/ops/" "'self' ${new URL(signIn.issuer).origin}";`,
  );

/** Which listeners are those of an inner network, and at which the portal is. */
const listeners = ({ innerListen = [], portal }: GatewaySettings): string[] => {
  const inner = [...new Set(innerListen.map((address) => `${address.split(':').at(-1)} 1;`))];
  return [
    ...block('map $server_port $is_inner', 'default 0;', inner),
    ...block('map $server_port $has_portal', portal === 'public' ? 'default 1;' : ['default 0;', ...inner]),
  ];
};

/** settings.conf: what differs from one deployment to another. */
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
    // Buffered: writing each line alone would cost more than making it.
    ['short', 'traced', 'long'].map(
      (format) => `access_log ${quoted(accessLog)} ${format} buffer=64k flush=200ms if=$is_${format}_line;`,
    ),
    telemetry !== undefined && `access_log syslog:server=${telemetry},nohostname,tag=gateway telemetry;`,
  );
};

/**
 * Where nginx listens, and with what certificate. What happens to requests stays out of the error log, because each entry
 * there repeats the request line and the referrer, and either may hold a token; the access log says the same without them.
 * At level emerg nothing of a request is logged. (Not /dev/null: nginx as root changes the owner of that file when it
 * reopens its logs.)
 */
export const listenSettings = (settings: GatewaySettings): Lines => {
  // What clients do not read must not fill the kernel, which would give each connection megabytes (docs/adr/0101).
  const options = 'default_server sndbuf=256k';
  const { listen, innerListen = [], tls } = settings;
  return [
    [...listen, ...innerListen].map((at) => `listen ${at} ${options};`),
    tls && [
      tls.listen.map((at) => `listen ${at} ssl http2 ${options};`),
      'include tls.conf;',
      `ssl_certificate ${quoted(tls.certificate)};`,
      `ssl_certificate_key ${quoted(tls.key)};`,
    ],
    errorLog(settings, 'emerg'),
  ];
};
