import type { ZodOpenApiHeaderObject, ZodOpenApiHeadersObject } from 'zod-openapi';
import { scopesOf } from './openapi-problems.ts';
import type { Route } from './route.ts';

const text = { type: 'string' } as const;

/** Headers of an OpenAPI document, from their descriptions by name. */
export const stringHeaders = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: text }]),
  );

/** Headers that are the same wherever they are sent, by name. */
const shared: Record<string, ZodOpenApiHeaderObject> = {
  'X-Request-Id': {
    description:
      'The request in the logs: that of the caller where it has 1 to 128 letters, digits, `.`, `_` or `-`',
    required: true,
    schema: { ...text, minLength: 1, maxLength: 128 },
  },
  ...stringHeaders({
    RateLimit: 'What is left of the limit (`r`), and in how many seconds it begins anew (`t`)',
    'RateLimit-Policy': 'How many requests (`q`) may be sent in how many seconds (`w`)',
    'WWW-Authenticate': 'The schemes of credentials that are accepted',
    Deprecation: 'Since when the operation is deprecated (RFC 9745)',
    Sunset: 'When the operation ends (RFC 8594)',
  }),
  'Retry-After': {
    description: 'Seconds to wait before the next attempt',
    required: true,
    schema: { ...text, pattern: '^[0-9]+$' },
  },
};

/** The names of the shared headers that an answer with this status has. */
const namesOf = (route: Route, status: number): string[] => [
  'X-Request-Id',
  ...(route.skipRateLimit ? [] : ['RateLimit', 'RateLimit-Policy']),
  ...(status === 401 || (status === 403 && scopesOf(route) !== '') ? ['WWW-Authenticate'] : []),
  ...(status === 429 || status === 503 ? ['Retry-After'] : []),
  ...(route.deprecated ? ['Deprecation', 'Sunset'] : []),
];

/** References to the shared headers of an answer. */
export const headersOf = (route: Route, status: number): ZodOpenApiHeadersObject =>
  Object.fromEntries(namesOf(route, status).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The shared headers that some of these routes have. */
export const headerComponents = (routes: readonly Route[]): Record<string, ZodOpenApiHeaderObject> => {
  const used = new Set(
    routes.flatMap((route) => [401, 403, 503].flatMap((status) => namesOf(route, status))),
  );
  return Object.fromEntries(Object.entries(shared).filter(([name]) => used.has(name)));
};

/** The parameters of a document for the request headers of a route. */
export const requestHeaders = (headers: Record<string, string>) =>
  Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header' as const,
    description,
    schema: name === 'Idempotency-Key' ? { ...text, minLength: 1, maxLength: 128 } : text,
  }));
