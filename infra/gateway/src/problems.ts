import { block } from './directives.ts';

/** An answer that nginx gives itself. The body is RFC 9457; codes are those of the services for the same case. */
interface Refusal {
  status: number;
  title: string;
  code: string;
  detail: string;
  /** Statuses of nginx that lead here; its own `status` unless said otherwise. */
  from?: readonly number[];
  headers?: readonly string[];
}

const refusals: readonly Refusal[] = [
  { status: 400, title: 'Bad Request', code: 'bad_request', detail: 'The request could not be read.' },
  {
    status: 404,
    from: [403, 404],
    title: 'Not Found',
    code: 'not_found',
    detail: 'Nothing is at this address.',
  },
  {
    status: 405,
    title: 'Method Not Allowed',
    code: 'method_not_allowed',
    detail: 'This address does not take the method.',
    headers: ['Allow $allowed_methods'],
  },
  {
    status: 412,
    title: 'Precondition Failed',
    code: 'precondition_failed',
    detail: 'The document has changed.',
  },
  { status: 413, title: 'Content Too Large', code: 'too_large', detail: 'The body is too large.' },
  { status: 414, title: 'URI Too Long', code: 'uri_too_long', detail: 'The request target is too long.' },
  {
    status: 429,
    title: 'Too Many Requests',
    code: 'too_many_requests',
    detail: 'Too many requests; slow down.',
    headers: ['Retry-After 1'],
  },
  {
    status: 431,
    // nginx's own number for it
    from: [494],
    title: 'Request Header Fields Too Large',
    code: 'headers_too_large',
    detail: 'The header fields are too large.',
  },
  {
    status: 500,
    title: 'Internal Server Error',
    code: 'internal_error',
    detail: 'Something went wrong on our side.',
  },
  {
    status: 501,
    title: 'Not Implemented',
    code: 'not_implemented',
    detail: 'The transfer encoding is not supported.',
  },
  {
    status: 503,
    title: 'Service Unavailable',
    code: 'service_unavailable',
    detail: 'The service is away; nothing was done. Try again shortly.',
    headers: ['Retry-After 2'],
  },
  {
    status: 505,
    title: 'HTTP Version Not Supported',
    code: 'http_version_not_supported',
    detail: 'Use HTTP/1.1.',
  },
];

/** Ends of a request that did reach its service, so that nobody here knows what came of it. */
const lost: readonly Refusal[] = [
  {
    status: 502,
    title: 'Bad Gateway',
    code: 'bad_gateway',
    detail: 'The service broke off; what became of the request is not known.',
  },
  {
    status: 504,
    title: 'Gateway Timeout',
    code: 'gateway_timeout',
    detail: 'The service did not answer in time; what became of the request is not known.',
  },
];

const answer = ({ status, title, detail, code }: Refusal): string => {
  const body = JSON.stringify({
    type: 'about:blank',
    title,
    status,
    detail,
    code,
    requestId: '$correlation_id',
  });
  return `return ${status} '${body}';`;
};

const location = (refusal: Refusal, before: readonly string[], extra: readonly string[]): string[] =>
  block(
    `location = /_problem/${refusal.status}`,
    'internal;',
    'client_max_body_size 0;',
    'default_type application/problem+json;',
    'add_header X-Request-Id $correlation_id always;',
    'add_header Cache-Control no-store always;',
    'add_header X-Content-Type-Options nosniff always;',
    extra.map((header) => `add_header ${header} always;`),
    before,
    answer(refusal),
  );

/**
 * Where nginx turns for everything that it refuses itself. Plain internal addresses, as a named location would make a
 * 500 of a 414.
 */
export const problemLocations = (): string[] => {
  const away = refusals.filter(({ status }) => status === 503);
  const unsent = away.flatMap((refusal) => block('if ($never_sent)', answer(refusal)));
  return [
    ...refusals.flatMap((refusal) => {
      const { status, from = [status] } = refusal;
      return [
        `error_page ${from.join(' ')} =${status} /_problem/${status};`,
        ...location(refusal, [], refusal.headers ?? []),
      ];
    }),
    ...lost.flatMap((refusal) => [
      `error_page ${refusal.status} = /_problem/${refusal.status};`,
      ...location(refusal, unsent, ['Retry-After $retry_after']),
    ]),
  ];
};

/** The variables that the problem locations read. */
export const problemMaps = (): string[] => [
  '# A service that was not sent one byte did nothing: 503. Otherwise the outcome is unknown: 502 or 504.',
  ...block('map $upstream_bytes_sent $never_sent', 'default 0;', '"" 1;', String.raw`"~^0(?:, 0)*\z" 1;`),
  ...block('map $never_sent $retry_after', 'default "";', '1 2;'),
  ...block(
    'map $request_uri $allowed_methods',
    'default "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";',
    '"~^/docs" "GET, HEAD";',
  ),
];
