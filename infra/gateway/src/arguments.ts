import { parseArgs } from 'node:util';
import type { GatewayOptions } from './options.ts';
import { services } from './routes.ts';

export const usage = `Writes the nginx configuration of the gateway.

  node src/render.ts --out FOLDER --upstream SERVICE=HOST:PORT [--upstream …]

  --out            folder for nginx.conf and the files that it includes
  --upstream       address of a service; repeat it for each service and each instance (${services.join(', ')})
  --listen         address:port, repeatable (*:8080)
  --tls-listen     address:port for TLS and HTTP/2, repeatable (*:8443 when there is a certificate)
  --tls-certificate, --tls-key   files (PEM)
  --redirect-to    https://HOST that requests without TLS are redirected to
  --run-dir        pid and temporary files (/tmp/nginx)
  --log-dir        folder of the logs (standard output and standard error)
  --request-log    all, or failures: only requests with a status of 400 or more (all)
  --docs-dir       folder that is served at /docs
  --resolver       name server; nginx then looks host names up again as they expire
  --trusted-proxy  address or network in front of the gateway, repeatable
  --cors-origin    origin whose pages may read refusals, repeatable (CORS_ORIGINS of the services)
  --secret-file    file with the directive proxy_set_header X-Gateway-Secret "…";
  --rate-limit     REQUESTS_A_SECOND:BURST for one client (an IPv4 address or an IPv6 /64)
  --connections    running requests of one client (256)
  --telemetry      HOST:PORT (UDP) of infra/gateway-telemetry
  --workers        number or auto (auto)
  --user           user of the workers, when root starts nginx
`;

const collect = (pairs: readonly string[]): Record<string, string[]> => {
  const upstreams: Record<string, string[]> = {};
  for (const pair of pairs) {
    const [, service = '', place = ''] = /^([^=]+)=(.+)$/.exec(pair) ?? [];
    if (!services.includes(service))
      throw new Error(`--upstream ${pair}: expected SERVICE=HOST:PORT with one of ${services.join(', ')}`);
    (upstreams[service] ??= []).push(place);
  }
  return upstreams;
};

const rate = (text: string): { perSecond: number; burst: number } => {
  const [perSecond, burst, ...rest] = text.split(':').map(Number);
  if (perSecond === undefined || burst === undefined || rest.length > 0)
    throw new Error('--rate-limit is REQUESTS_A_SECOND:BURST');
  return { perSecond, burst };
};

interface TlsArguments {
  'tls-listen': readonly string[];
  'tls-certificate'?: string | undefined;
  'tls-key'?: string | undefined;
  'redirect-to'?: string | undefined;
}

const tlsOption = ({
  'tls-listen': listen,
  'tls-certificate': certificate,
  'tls-key': key,
  'redirect-to': redirectTo,
}: TlsArguments): Pick<GatewayOptions, 'tls'> => {
  if (certificate === undefined && key === undefined && redirectTo === undefined) return {};
  if (certificate === undefined || key === undefined)
    throw new Error('TLS needs --tls-certificate and --tls-key');
  return { tls: { listen, certificate, key, ...(redirectTo !== undefined && { redirectTo }) } };
};

/**
 * Reads the command line; undefined when it asks for help.
 * @throws an Error that names the wrong argument
 */
export const readArguments = (
  args: readonly string[],
): { out: string; options: GatewayOptions } | undefined => {
  const text = { type: 'string' } as const;
  const texts = { type: 'string', multiple: true } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h' },
      out: text,
      upstream: texts,
      listen: { ...texts, default: ['*:8080'] },
      'tls-listen': { ...texts, default: ['*:8443'] },
      'tls-certificate': text,
      'tls-key': text,
      'redirect-to': text,
      'run-dir': { ...text, default: '/tmp/nginx' },
      'log-dir': text,
      'request-log': text,
      'docs-dir': text,
      resolver: text,
      'trusted-proxy': texts,
      'cors-origin': texts,
      'secret-file': text,
      'rate-limit': text,
      connections: text,
      telemetry: text,
      workers: { ...text, default: 'auto' },
      user: text,
    },
  });
  if (values.help) return undefined;
  if (values.out === undefined) throw new Error('--out is missing');
  const {
    'log-dir': logDir,
    'docs-dir': docsDir,
    'request-log': requestLog,
    'secret-file': secretFile,
    'rate-limit': rateLimit,
    connections,
    resolver,
    telemetry,
    user,
    workers,
  } = values;
  return {
    out: values.out,
    options: {
      listen: values.listen,
      upstreams: collect(values.upstream ?? []),
      runDir: values['run-dir'],
      trustedProxies: values['trusted-proxy'] ?? [],
      corsOrigins: values['cors-origin'] ?? [],
      workers: workers === 'auto' ? workers : Number(workers),
      ...tlsOption(values),
      ...(logDir !== undefined && { logDir }),
      ...(docsDir !== undefined && { docsDir }),
      // checkOptions rejects any other text.
      ...(requestLog !== undefined && { requestLog: requestLog as 'all' | 'failures' }),
      ...(resolver !== undefined && { resolver }),
      ...(user !== undefined && { user }),
      ...(telemetry !== undefined && { telemetry }),
      ...(secretFile !== undefined && { secretFile }),
      ...(connections !== undefined && { connectionsPerClient: Number(connections) }),
      ...(rateLimit !== undefined && { rateLimit: rate(rateLimit) }),
    },
  };
};
