import { z } from 'zod';
import { scopesOf } from './openapi-problems.ts';
import type { Route } from './route.ts';

/** A header of answers of many operations, which stands in the document once. */
const shared = (id: string, description: string, schema: z.ZodType = z.string().optional()) => ({
  [id]: schema.meta({ header: { id, description } }),
});

const requestId = shared(
  'X-Request-Id',
  'The request in the logs: that of the caller where it has 1 to 128 letters, digits, `.`, `_` or `-`',
  z.string().min(1).max(128),
);
const rateLimits = {
  ...shared('RateLimit', 'What is left of the limit (`r`), and in how many seconds it begins anew (`t`)'),
  ...shared('RateLimit-Policy', 'How many requests (`q`) may be sent in how many seconds (`w`)'),
};
const challenge = shared('WWW-Authenticate', 'The schemes of credentials that are accepted');
const retryAfter = shared('Retry-After', 'Seconds to wait before the next attempt', z.string());
const deprecation = {
  ...shared('Deprecation', 'Since when the operation is deprecated (RFC 9745)'),
  ...shared('Sunset', 'When the operation ends (RFC 8594)'),
};

/** The headers of an answer with this status. `own`: those of the route, name → description. */
export const headersOf = (route: Route, status: number, own: Record<string, string> = {}): z.ZodObject =>
  z.object({
    ...Object.fromEntries(
      Object.entries(own).map(([name, description]) => [
        name,
        z.string().optional().meta({ header: { description } }),
      ]),
    ),
    ...requestId,
    ...(!route.skipRateLimit && rateLimits),
    ...((status === 401 || (status === 403 && scopesOf(route) !== '')) && challenge),
    ...((status === 429 || status === 503) && retryAfter),
    ...(route.deprecated && deprecation),
  });

/** The parameters of a document for the request headers of a route. */
export const requestHeaders = ({ headers = {} }: Route) =>
  Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header' as const,
    description,
    schema: { type: 'string' as const, ...(name === 'Idempotency-Key' && { minLength: 1, maxLength: 128 }) },
  }));
