import { z } from 'zod';

const isAddress = (text: string): boolean => {
  const [, port] =
    /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]|\*):(\d{1,5})$/.exec(text) ?? [];
  return Number(port) >= 1 && Number(port) <= 65_535;
};

const Address = z.string().refine(isAddress, 'must be host:port');
/** One address or a list of addresses; the output is always a list. */
const Addresses = z
  .union([z.string(), z.array(z.string()).readonly()])
  .transform((addresses) => [addresses].flat())
  .pipe(z.array(Address).min(1, 'must have at least one host:port'));
// nginx expands variables and escapes even inside quotes, so paths with these characters are rejected.
const Path = z
  .string()
  .regex(/^\/[^"$\\\n\r;{}]*$/, 'must be an absolute path without ", $, \\, ; or braces');
const Count = z.int('must be a whole number').min(1, 'must be at least 1');
const Network = z.union(
  [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
  'must be an IP address or a network such as 10.0.0.0/8',
);
const Origins = z
  .array(z.string().regex(/^https?:\/\/[a-z0-9.-]+(?::\d+)?$/, 'must be an origin: https://app.example.com'))
  .readonly();
const HttpsOrigin = z
  .string()
  .regex(/^https:\/\/[\w.-]+(?::\d+)?$/, 'must be https://host or https://host:port');

// nginx serves these texts to the portal as JSON in a single-quoted directive.
const Text = z.string().regex(/^[\w.~:/?#@!&()*+,;=% -]+$/, 'must be text without quotes, backslashes and $');
const Issuer = z
  .string()
  .regex(
    /^(?:https:\/\/[\w.-]+|http:\/\/(?:127\.0\.0\.1|localhost))(?::\d+)?(?:\/[\w.~:@%/-]*)?$/,
    'must be https://host or https://host/path',
  );
/** A public client (without a secret) of the organisation's OpenID provider. */
const SignIn = z.strictObject({
  /** Exactly as in the provider's tokens and metadata; http only for 127.0.0.1 and localhost. */
  issuer: Issuer,
  clientId: Text,
  /** Scopes to request: that of the API, and `offline_access` if the provider issues refresh tokens only with it. */
  scope: Text.default('openid'),
  /** The audience of the access tokens, if the provider needs this parameter (RFC 8707). */
  resource: Text.exactOptional(),
});

/** Time-outs in milliseconds. */
const Timeouts = z.strictObject({
  /** To receive the whole head of a request. */
  header: Count.default(5_000),
  /** Between two reads of a body. */
  body: Count.default(10_000),
  /** Between two writes of a response. */
  send: Count.default(15_000),
  /** Until an idle client connection is closed. */
  keepAlive: Count.default(30_000),
  /** To connect to a service. */
  connect: Count.default(2_000),
  /** Between two reads of a service's response, or two writes to the service. */
  answer: Count.default(30_000),
});

/** Options that the operator sets for every kind of gateway. */
const operatorOptions = {
  /** Requests in the access log: all, or only those with a status of 400 or more. */
  requestLog: z.enum(['all', 'failures']).default('all'),
  /** Addresses or networks whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  trustedProxies: z.array(Network).readonly().default([]),
  /** Exact origins (CORS_ORIGINS of the services) whose pages may read error responses of the gateway. */
  corsOrigins: Origins.default([]),
  /** Requests per second of one client, and the burst above that rate. Without it there is no limit. */
  rateLimit: z.strictObject({ perSecond: Count, burst: Count }).exactOptional(),
  /** Maximum of concurrent requests of one client; four times as many for webhooks and callbacks. */
  connectionsPerClient: Count.default(256),
  timeouts: Timeouts.prefault({}),
  /** OpenID provider for sign-in to the operations page; without it the page asks for an access token. */
  signIn: SignIn.exactOptional(),
};

/** All options of a gateway. */
const Options = z
  .strictObject({
    ...operatorOptions,
    /** Addresses to listen on: `127.0.0.1:8080`, `[::1]:8080`, `*:8080`. */
    listen: Addresses,
    tls: z
      .strictObject({
        /** Addresses that accept TLS, with HTTP/2 and HTTP/1.1. */
        listen: Addresses,
        /** The certificate with its intermediate certificates (PEM). nginx reloads it on SIGHUP. */
        certificate: Path,
        /** Its private key (PEM). */
        key: Path,
        /** Origin to which requests without TLS are redirected, except /healthz. Without it they are served. */
        redirectTo: HttpsOrigin.exactOptional(),
      })
      .exactOptional(),
    /** `host:port` of each instance of each service. A service that is missing here is not deployed: 404. */
    upstreams: z.record(z.string(), Addresses),
    /** Folder for access.log and error.log. Without it nginx logs to standard output and standard error. */
    logDir: Path.exactOptional(),
    /** Addresses for an inner network, on which requests are not redirected to TLS. */
    innerListen: Addresses.exactOptional(),
    /** Folder that is served at /docs; its subfolder `account` is served at /account. Without it both are 404. */
    docsDir: Path.exactOptional(),
    /** `public`: /docs is served at all addresses; `internal`: only at those of `innerListen`. */
    portal: z.enum(['public', 'internal']).default('public'),
    /**
     * The server that exchanges a one-time code for the demo credentials (POST /docs/demo) and returns the mails of the
     * platform (GET /docs/ops/mails). Only for a gateway that listens on loopback addresses.
     */
    demoServer: Address.exactOptional(),
    /**
     * A file with one directive, `proxy_set_header X-Gateway-Secret "…";`. Services recognise the gateway by this secret;
     * without it they ignore its X-Forwarded-* headers.
     */
    secretFile: Path.exactOptional(),
    /**
     * A file with the directive `resolver`. With it nginx (1.27.3 or later) looks up host names of services again when they
     * expire; without it nginx looks them up only when it starts.
     */
    resolverFile: Path.exactOptional(),
    /** `user` or `user group` of the worker processes; only for a gateway that root starts. */
    user: z
      .string()
      .regex(/^[\w-]+(?: [\w-]+)?$/, 'must be a user, or a user and a group')
      .exactOptional(),
    /** Addresses of /metrics, with which Prometheus checks that nginx runs. Clients must not be able to reach them. */
    metrics: Addresses.exactOptional(),
    workers: z.union([Count, z.literal('auto')]).default(1),
    /** UDP address of infra/gateway-telemetry, which counts each request and creates its span. */
    telemetry: Address.exactOptional(),
  })
  .refine(
    ({ demoServer, listen, tls }) =>
      demoServer === undefined ||
      [...listen, ...(tls?.listen ?? [])].every((address) =>
        /^(?:127\.\d+\.\d+\.\d+|\[::1\]):/.test(address),
      ),
    { path: ['listen'], error: 'must be loopback addresses if demoServer is set' },
  );

/** Options of a gateway in its container image, which has fixed paths and ports. */
const ImageOptions = z.strictObject({
  ...operatorOptions,
  /** The services; the name of each is its host name. */
  services: z.array(z.string()).readonly(),
  /** Domain to append to the host names, if the name server needs it: `platform.svc.cluster.local`. */
  domain: z
    .string()
    .regex(/^[a-z0-9.-]+$/, 'must be a domain')
    .exactOptional(),
  /** No portal, a portal only at the port for an inner network (8082), or at all ports. */
  portal: z.enum(['off', 'internal', 'public']).default('internal'),
  /** Also listens on IPv6 addresses. */
  ipv6: z.boolean().default(false),
  /** The gateway terminates TLS and redirects requests without TLS to this origin. */
  tls: z.strictObject({ redirectTo: HttpsOrigin }).exactOptional(),
});

export type GatewayOptions = z.input<typeof Options>;
export type GatewaySettings = z.output<typeof Options>;

const parseOptions = <Schema extends z.ZodType>(schema: Schema, options: unknown): z.output<Schema> => {
  const { data, error } = schema.safeParse(options);
  if (error) throw new Error(z.prettifyError(error));
  return data;
};

/** Returns the options with their defaults. @throws an Error that names every invalid option */
export const checkOptions = (options: GatewayOptions): GatewaySettings => parseOptions(Options, options);

/**
 * Returns all options of a gateway in its image, from those that its operator sets (`nginx` in the values of chart and
 * compose).
 * @throws an Error that names every invalid option
 */
export const imageOptions = (operatorValues: unknown): GatewayOptions => {
  const { services, domain, portal, ipv6, tls, ...options } = parseOptions(ImageOptions, operatorValues);
  const listenOn = (port: number): string[] => [`*:${port}`, ...(ipv6 ? [`[::]:${port}`] : [])];
  // File names of a Secret of the type kubernetes.io/tls.
  const certificate = { certificate: '/etc/gateway-tls/tls.crt', key: '/etc/gateway-tls/tls.key' };
  return {
    ...options,
    listen: listenOn(8080),
    metrics: listenOn(9146),
    ...(tls && { tls: { listen: listenOn(8443), ...certificate, ...tls } }),
    upstreams: Object.fromEntries(
      services.map((name) => [name, `${[name, ...(domain ? [domain] : [])].join('.')}:8080`]),
    ),
    innerListen: listenOn(8082),
    ...(portal !== 'off' && { docsDir: '/usr/share/portal', portal }),
    // The entrypoint of the image writes these two files.
    resolverFile: '/tmp/nginx/resolver.conf',
    secretFile: '/tmp/nginx/gateway-secret.conf',
    workers: 2,
    telemetry: 'gateway-telemetry:9145',
  };
};
