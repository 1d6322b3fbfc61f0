import { block, duration, quoted } from './directives.ts';
import { defaultTimeouts, listed, type GatewayOptions } from './options.ts';

/** File of the error log; `nginx -e` takes it too. */
export const errorLogFile = ({ logDir }: GatewayOptions): string =>
  logDir === undefined ? 'stderr' : `${logDir}/error.log`;

const errorLog = (options: GatewayOptions, level: string): string => {
  const file = errorLogFile(options);
  return `error_log ${file === 'stderr' ? file : quoted(file)} ${level};`;
};

/** process.conf: the processes of nginx, and where they log what happens to nginx itself. */
export const processFile = (options: GatewayOptions): string[] => {
  const { user, workers = 1, runDir } = options;
  return [
    ...(user === undefined ? [] : [`user ${user};`]),
    `worker_processes ${workers};`,
    `pid ${quoted(`${runDir}/nginx.pid`)};`,
    `lock_file ${quoted(`${runDir}/nginx.lock`)};`,
    errorLog(options, 'error'),
  ];
};

const timeouts = (options: GatewayOptions): string[] => {
  const { header, body, send, keepAlive, connect, answer } = { ...defaultTimeouts, ...options.timeouts };
  return [
    `client_header_timeout ${duration(header)};`,
    `client_body_timeout ${duration(body)};`,
    `send_timeout ${duration(send)};`,
    `keepalive_timeout ${duration(keepAlive)};`,
    `proxy_connect_timeout ${duration(connect)};`,
    `proxy_send_timeout ${duration(answer)};`,
    `proxy_read_timeout ${duration(answer)};`,
  ];
};

/** Whose X-Forwarded-For and X-Forwarded-Proto count. */
const trustedProxies = (networks: readonly string[] = []): string[] => [
  ...networks.map((network) => `set_real_ip_from ${network};`),
  ...(networks.length > 0 ? ['real_ip_header X-Forwarded-For;', 'real_ip_recursive on;'] : []),
  ...block(
    'geo $realip_remote_addr $trusted',
    'default 0;',
    networks.map((network) => `${network} 1;`),
  ),
];

/** The origins whose pages may read the refusals of the gateway. */
const crossOrigin = (origins: readonly string[] = []): string[] => [
  ...block(
    'map $http_origin $cors_origin',
    'default "";',
    origins.map((origin) => `"${origin}" "${origin}";`),
  ),
  ...block('map $cors_origin $cors_exposed', 'default "Retry-After, X-Request-Id";', '"" "";'),
  ...block('map $host $cors_vary', `default "${origins.length > 0 ? 'Origin' : ''}";`),
];

/** settings.conf: what differs from one deployment to another. */
export const settingsFile = (options: GatewayOptions): string[] => {
  const { runDir, logDir, resolver, secretFile, telemetry, rateLimit, requestLog } = options;
  const accessLog = logDir === undefined ? '/dev/stdout' : `${logDir}/access.log`;
  return [
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${quoted(`${runDir}/${kind}`)};`,
    ),
    ...timeouts(options),
    ...(resolver === undefined
      ? []
      : [
          `resolver ${resolver};`,
          `resolver_timeout ${duration(options.timeouts?.connect ?? defaultTimeouts.connect)};`,
        ]),
    ...trustedProxies(options.trustedProxies),
    ...crossOrigin(options.corsOrigins),
    secretFile === undefined ? 'proxy_set_header X-Gateway-Secret "";' : `include ${quoted(secretFile)};`,
    ...(rateLimit
      ? [`limit_req_zone $client_network zone=requests:10m rate=${rateLimit.perSecond}r/s;`]
      : []),
    ...block('map $is_failure $is_logged', 'default 1;', requestLog === 'failures' ? '0 0;' : []),
    // Buffered: writing each line alone would cost more than making it.
    ...['short', 'traced', 'long'].map(
      (format) => `access_log ${quoted(accessLog)} ${format} buffer=64k flush=200ms if=$is_${format}_line;`,
    ),
    ...(telemetry === undefined
      ? []
      : [`access_log syslog:server=${telemetry},nohostname,tag=gateway telemetry;`]),
  ];
};

const tlsSettings = ({ tls }: GatewayOptions): string[] =>
  tls === undefined
    ? []
    : [
        ...listed(tls.listen).map((at) => `listen ${at} ssl http2 default_server;`),
        'include tls.conf;',
        `ssl_certificate ${quoted(tls.certificate)};`,
        `ssl_certificate_key ${quoted(tls.key)};`,
        ...(tls.redirectTo === undefined ? [] : block('if ($needs_tls)', 'rewrite ^ /_problem/tls last;')),
      ];

/**
 * Where nginx listens, and with what certificate. What happens to requests stays out of the error log, because each entry there repeats the request
 * line and the referrer, and either may hold a token; the access log says the same without them. At level emerg nothing
 * of a request is logged. (Not /dev/null: nginx as root changes the owner of that file when it reopens its logs.)
 */
export const listenSettings = (options: GatewayOptions): string[] => [
  ...listed(options.listen).map((at) => `listen ${at} default_server;`),
  ...tlsSettings(options),
  errorLog(options, 'emerg'),
];
