import { z } from 'zod';

const isAddress = (text: string): boolean => {
  const [, port] =
    /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]|\*):(\d{1,5})$/.exec(text) ?? [];
  return Number(port) >= 1 && Number(port) <= 65_535;
};

const Address = z.string().refine(isAddress, 'must be host:port');
/** One address or several; always a list in the output. */
const Addresses = z
  .union([z.string(), z.array(z.string()).readonly()])
  .transform((addresses) => [addresses].flat())
  .pipe(z.array(Address).min(1, 'must have at least one host:port'));
// nginx replaces variables and escapes even inside quotes, so its configuration cannot name other files.
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

// The portal gets these as JSON from nginx, in single quotes.
const Text = z.string().regex(/^[\w.~:/?#@!&()*+,;=% -]+$/, 'must be text without quotes, backslashes and $');
const Issuer = z
  .string()
  .regex(
    /^(?:https:\/\/[\w.-]+|http:\/\/(?:127\.0\.0\.1|localhost))(?::\d+)?(?:\/[\w.~:@%/-]*)?$/,
    'must be https://host or https://host/path',
  );
/** An application of the organisation's OpenID provider, without a secret. */
const SignIn = z.strictObject({
  /** Exactly as in its tokens and its metadata; http only for 127.0.0.1 and localhost. */
  issuer: Issuer,
  clientId: Text,
  /** What is asked for: the API, and `offline_access` where only that gives refresh tokens. */
  scope: Text.default('openid'),
  /** The audience of the access tokens, where the provider wants it so (RFC 8707). */
  resource: Text.exactOptional(),
});

/** In milliseconds. */
const Timeouts = z.strictObject({
  /** For the whole head of a request. */
  header: Count.default(5_000),
  /** Between two reads of a body. */
  body: Count.default(10_000),
  /** Between two writes of an answer. */
  send: Count.default(15_000),
  /** Idle connections of clients. */
  keepAlive: Count.default(30_000),
  /** To reach a service. */
  connect: Count.default(2_000),
  /** Until a service answers. */
  answer: Count.default(30_000),
});

/** What the operator of a gateway chooses, wherever it runs. */
const choices = {
  /** Which requests the access log has: all of them, or those with a status of 400 or more. */
  requestLog: z.enum(['all', 'failures']).default('all'),
  /** Addresses or networks whose X-Forwarded-For and X-Forwarded-Proto count. */
  trustedProxies: z.array(Network).readonly().default([]),
  /** Exact origins (CORS_ORIGINS of the services) whose pages may read what the gateway refuses. */
  corsOrigins: Origins.default([]),
  /** Requests a second for one client, and how many more may come at once. Without it there is no limit. */
  rateLimit: z.strictObject({ perSecond: Count, burst: Count }).exactOptional(),
  /** Requests of one client that may be running at the same time; four times as many for webhooks and callbacks. */
  connectionsPerClient: Count.default(256),
  timeouts: Timeouts.prefault({}),
  /** Who may sign in to the operations page; without it the page asks for an access token. */
  signIn: SignIn.exactOptional(),
};

/** What differs from one gateway to another. */
const Options = z
  .strictObject({
    ...choices,
    /** Addresses to listen on: `127.0.0.1:8080`, `[::1]:8080`, `*:8080`. */
    listen: Addresses,
    tls: z
      .strictObject({
        /** Addresses that accept TLS, with HTTP/2 and HTTP/1.1. */
        listen: Addresses,
        /** The certificate with its intermediate certificates (PEM). nginx reads it again on SIGHUP. */
        certificate: Path,
        /** Its private key (PEM). */
        key: Path,
        /** Where requests without TLS are redirected to, except /healthz. Without it they are served. */
        redirectTo: HttpsOrigin.exactOptional(),
      })
      .exactOptional(),
    /** `host:port` of each service, several when it runs more than once. A missing one is not deployed: 404. */
    upstreams: z.record(z.string(), Addresses),
    /** Folder for access.log and error.log. Without it they go to standard output and standard error. */
    logDir: Path.exactOptional(),
    /** Addresses for an inner network, where requests are not redirected to TLS. */
    innerListen: Addresses.exactOptional(),
    /** Folder that is served at /docs, and its folder `account` at /account. Without it both are 404. */
    docsDir: Path.exactOptional(),
    /** Whether /docs is served at all addresses, or at those of `innerListen` only. */
    portal: z.enum(['public', 'internal']).default('public'),
    /**
     * The server that exchanges a one-time code for the credentials of the demo (POST /docs/demo), and has the mails of
     * the platform (GET /docs/ops/mails); only for a gateway that listens on loopback addresses.
     */
    demoServer: Address.exactOptional(),
    /**
     * A file with one directive, `proxy_set_header X-Gateway-Secret "…";`: the secret by which services recognise this
     * gateway. Without it they ignore the X-Forwarded-* headers that it sends.
     */
    secretFile: Path.exactOptional(),
    /**
     * A file with the directive `resolver`. With it nginx (1.27.3 or later) looks the names of services up again as they
     * expire; without it nginx looks them up once, when it starts.
     */
    resolverFile: Path.exactOptional(),
    /** `user` or `user group` of the worker processes; only for a gateway that is started as root. */
    user: z
      .string()
      .regex(/^[\w-]+(?: [\w-]+)?$/, 'must be a user, or a user and a group')
      .exactOptional(),
    /** Addresses of /metrics, which no client may reach: it tells Prometheus that nginx runs. */
    metrics: Addresses.exactOptional(),
    workers: z.union([Count, z.literal('auto')]).default(1),
    /** Where infra/gateway-telemetry listens (UDP), which counts each request and makes its span. */
    telemetry: Address.exactOptional(),
  })
  .refine(
    ({ demoServer, listen, tls }) =>
      demoServer === undefined ||
      [...listen, ...(tls?.listen ?? [])].every((at) => /^(?:127\.\d+\.\d+\.\d+|\[::1\]):/.test(at)),
    { path: ['listen'], error: 'must be loopback addresses when there is a demoServer' },
  );

/** Options of a gateway in its image, whose paths and ports are fixed. */
const ImageOptions = z.strictObject({
  ...choices,
  /** The services, each found by its name. */
  services: z.array(z.string()).readonly(),
  /** What their names end with, where the name server needs it: `platform.svc.cluster.local`. */
  domain: z
    .string()
    .regex(/^[a-z0-9.-]+$/, 'must be a domain')
    .exactOptional(),
  /** Whether there is a portal, and whether only at the port for an inner network (8082) or at all. */
  portal: z.enum(['off', 'internal', 'public']).default('internal'),
  /** Listens on IPv6 addresses, too. */
  ipv6: z.boolean().default(false),
  /** The gateway terminates TLS itself, and redirects requests without it to this address. */
  tls: z.strictObject({ redirectTo: HttpsOrigin }).exactOptional(),
});

export type GatewayOptions = z.input<typeof Options>;
export type GatewaySettings = z.output<typeof Options>;

const checked = <Schema extends z.ZodType>(schema: Schema, options: unknown): z.output<Schema> => {
  const { data, error } = schema.safeParse(options);
  if (error) throw new Error(z.prettifyError(error));
  return data;
};

/** The options with their defaults. @throws an Error that names every wrong option */
export const checkOptions = (options: GatewayOptions): GatewaySettings => checked(Options, options);

/**
 * The options of a gateway in its image, from those that its operator chooses (`nginx` in the values of chart and compose).
 * @throws an Error that names every wrong option
 */
export const imageOptions = (chosen: unknown): GatewayOptions => {
  const { services, domain, portal, ipv6, tls, ...options } = checked(ImageOptions, chosen);
  const listenOn = (port: number): string[] => [`*:${port}`, ...(ipv6 ? [`[::]:${port}`] : [])];
  // As in a Secret of the type kubernetes.io/tls.
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
    // Both are written by the entrypoint of the image.
    resolverFile: '/tmp/nginx/resolver.conf',
    secretFile: '/tmp/nginx/gateway-secret.conf',
    workers: 2,
    telemetry: 'gateway-telemetry:9145',
  };
};
