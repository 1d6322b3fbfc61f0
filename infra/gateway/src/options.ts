import { isIP } from 'node:net';

/** Requests of one client that may run at the same time, unless an option says otherwise. */
export const defaultConnections = 256;

/** What differs from one gateway to another. */
export interface GatewayOptions {
  /** Addresses to listen on: `127.0.0.1:8080`, `[::1]:8080`, `*:8080`. */
  listen: string | readonly string[];
  /** Addresses that accept TLS, with HTTP/2 and HTTP/1.1. */
  tls?: Tls;
  /** `host:port` of each service, several when it runs more than once. Requests for a missing one get 503. */
  upstreams: Readonly<Record<string, string | readonly string[]>>;
  /** Absolute folder for the pid and nginx's empty temporary folders; nothing is written anywhere else. */
  runDir: string;
  /** Absolute folder for access.log and error.log. Without it they go to standard output and standard error. */
  logDir?: string;
  /** Which requests the access log has: all of them (the default), or those with a status of 400 or more. */
  requestLog?: 'all' | 'failures';
  /** Absolute folder that is served at /docs. Without it /docs is 404. */
  docsDir?: string;
  /**
   * `host:port` of the server that exchanges a one-time code for the credentials of the demo (POST /docs/demo); only
   * for a gateway that listens on loopback addresses.
   */
  demoServer?: string;
  /**
   * Absolute path of a file with one directive, `proxy_set_header X-Gateway-Secret "…";`: the secret by which services
   * recognise this gateway. Without it they ignore the X-Forwarded-* headers that it sends.
   */
  secretFile?: string;
  /**
   * Name server, for example `127.0.0.11 valid=5s`. With it nginx looks host names up again as they expire, at the price
   * of a new connection for each request; without it nginx looks them up once, when it starts.
   */
  resolver?: string;
  /** Addresses or networks whose X-Forwarded-For and X-Forwarded-Proto count. */
  trustedProxies?: readonly string[];
  /** Exact origins (CORS_ORIGINS of the services) whose pages may read what the gateway refuses. */
  corsOrigins?: readonly string[];
  /** Requests a second for one client, and how many more may come at once. Without it there is no limit. */
  rateLimit?: { perSecond: number; burst: number };
  /** Requests of one client that may be running at the same time (256); four times as many for webhooks and callbacks. */
  connectionsPerClient?: number;
  /** `user` or `user group` of the worker processes; only for a gateway that is started as root. */
  user?: string;
  /** Worker processes, 1 unless said otherwise. */
  workers?: number | 'auto';
  /** `host:port` (UDP) of infra/gateway-telemetry, which counts each request and makes its span. */
  telemetry?: string;
  /** In milliseconds. */
  timeouts?: Partial<Timeouts>;
}

export interface Tls {
  /** Addresses to listen on, as in `listen`. */
  listen: string | readonly string[];
  /** Absolute path of the certificate with its intermediate certificates (PEM). nginx reads it again on SIGHUP. */
  certificate: string;
  /** Absolute path of its private key (PEM). */
  key: string;
  /** Where requests without TLS are redirected to, except /healthz: `https://api.example.test`. Without it they are served. */
  redirectTo?: string;
}

/** In milliseconds. */
export interface Timeouts {
  /** For the whole head of a request. */
  header: number;
  /** Between two reads of a body. */
  body: number;
  /** Between two writes of an answer. */
  send: number;
  /** Idle connections of clients. */
  keepAlive: number;
  /** To reach a service. */
  connect: number;
  /** Until a service answers. */
  answer: number;
}

export const defaultTimeouts: Timeouts = {
  header: 5_000,
  body: 10_000,
  send: 15_000,
  keepAlive: 30_000,
  connect: 2_000,
  answer: 30_000,
};

const address = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]|\*):(?<port>\d{1,5})$/;

const isAddress = (text: string): boolean => {
  const port = Number(address.exec(text)?.groups?.['port']);
  return port >= 1 && port <= 65_535;
};

const isLoopback = (place: string): boolean => /^(?:127\.\d+\.\d+\.\d+|\[::1\]):/.test(place);

const isNetwork = (text: string): boolean => {
  const [ip = '', bits, ...rest] = text.split('/');
  const family = isIP(ip);
  const prefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
  return family !== 0 && prefix && rest.length === 0;
};

// nginx replaces variables and escapes even inside quotes, so its configuration cannot name such files.
const isPath = (text: string): boolean => /^\/[^"$\\\n\r;{}]*$/.test(text);

const isHttpsOrigin = (text: string): boolean => /^https:\/\/[\w.-]+(?::\d+)?$/.test(text);

const isOrigin = (text: string): boolean => /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/.test(text);

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value > 0;

/** `host:port` values of one option, always as a list. */
export const listed = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;

/** All addresses that a gateway listens on. */
const listeners = ({ listen, tls }: GatewayOptions): string[] => [...listed(listen), ...listed(tls?.listen)];

const problemsOf = (options: GatewayOptions): string[] => {
  const wrong: string[] = [];
  const expect = (name: string, given: unknown, ok: boolean, wanted: string): void => {
    if (!ok) wrong.push(`${name} is ${wanted}, not ${JSON.stringify(given)}`);
  };
  for (const at of listeners(options)) expect('listen', at, isAddress(at), 'address:port');
  expect('listen', options.listen, listed(options.listen).length > 0, 'at least one address:port');
  for (const [service, places] of Object.entries(options.upstreams))
    for (const at of listed(places)) expect(`the upstream of ${service}`, at, isAddress(at), 'host:port');
  const { runDir, logDir, docsDir, secretFile, tls } = options;
  const paths = {
    runDir,
    logDir,
    docsDir,
    secretFile,
    'tls.certificate': tls?.certificate,
    'tls.key': tls?.key,
  };
  for (const [name, path] of Object.entries(paths))
    if (path !== undefined)
      expect(name, path, isPath(path), 'an absolute path without ", $, \\, ; or braces');
  if (tls?.redirectTo !== undefined)
    expect(
      'tls.redirectTo',
      tls.redirectTo,
      isHttpsOrigin(tls.redirectTo),
      'https://host or https://host:port',
    );
  if (options.demoServer !== undefined) {
    expect('demoServer', options.demoServer, isAddress(options.demoServer), 'host:port');
    for (const at of listeners(options))
      expect('listen', at, isLoopback(at), 'a loopback address when there is a demoServer');
  }
  for (const network of options.trustedProxies ?? [])
    expect('trustedProxies', network, isNetwork(network), 'an IP address or a network such as 10.0.0.0/8');
  for (const origin of options.corsOrigins ?? [])
    expect('corsOrigins', origin, isOrigin(origin), 'an origin such as https://app.example.com');
  if (options.telemetry !== undefined)
    expect('telemetry', options.telemetry, isAddress(options.telemetry), 'host:port');
  const { requestLog = 'all' } = options;
  expect('requestLog', requestLog, ['all', 'failures'].includes(requestLog), '"all" or "failures"');
  const { resolver, user, workers = 1, rateLimit, connectionsPerClient = 1, timeouts = {} } = options;
  if (resolver !== undefined) expect('resolver', resolver, /^[\w.:[\]= -]+$/.test(resolver), 'name servers');
  if (user !== undefined)
    expect('user', user, /^[\w-]+(?: [\w-]+)?$/.test(user), 'a user, or a user and a group');
  expect('workers', workers, workers === 'auto' || isCount(workers), 'a number from 1 or "auto"');
  if (rateLimit)
    expect(
      'rateLimit',
      rateLimit,
      isCount(rateLimit.perSecond) && isCount(rateLimit.burst),
      'two whole numbers from 1',
    );
  expect(
    'connectionsPerClient',
    connectionsPerClient,
    isCount(connectionsPerClient),
    'a whole number from 1',
  );
  for (const [name, ms] of Object.entries(timeouts))
    expect(`timeouts.${name}`, ms, isCount(ms), 'milliseconds from 1');
  return wrong;
};

/**
 * Checks options before they become configuration text.
 * @throws an Error that names every wrong option
 */
export const checkOptions = (options: GatewayOptions): void => {
  const wrong = problemsOf(options);
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
};
