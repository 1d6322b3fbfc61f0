import { z } from 'zod';
import type { ZodOpenApiMediaTypeObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { csvLine } from './csv.ts';
import type { Route } from './route.ts';

const ndjson = 'application/x-ndjson';

/** A JSON object as CSV: its names, then its values. */
const csvOf = (object: object): string => [Object.keys(object), Object.values(object)].map(csvLine).join('');

const textOf = (type: string, example: unknown): unknown => {
  if (typeof example !== 'object' || example === null) return example;
  return type === ndjson ? `${JSON.stringify(example)}\n` : csvOf(example);
};

/**
 * What the document says of a body. OpenAPI 3.0 has no lines of a text: NDJSON and CSV are a text, and `itemSchema`, a
 * field of OpenAPI 3.2, is the schema of a line of NDJSON. `given` is one line as an object; without it, the example that the
 * schema states.
 */
export const contentOf = (type: string, schema: z.ZodType, given: unknown): ZodOpenApiMediaTypeObject => {
  const isText = type === ndjson || type.startsWith('text/');
  const { id: name, example: stated } = z.globalRegistry.get(schema) ?? {};
  const example = given ?? stated;
  const description =
    name && (type === ndjson ? `Each line a ${name}` : `A line of names, then each line a ${name}`);
  return {
    schema: isText ? { type: 'string', ...(description && { description }) } : schema,
    ...(type === ndjson && { itemSchema: schema }),
    ...(example !== undefined && { example: isText ? textOf(type, example) : example }),
  };
};

/**
 * Codes of problems by operation and status, beside those that every operation with the status has: 400
 * `validation_failed`, 404 `not_found`, 412 `stale` and others.
 */
export type ProblemCodes = Record<string, Record<number, readonly string[]>>;

const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().meta({ description: 'Stable name of the problem' }),
    requestId: z.string(),
    errors: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .meta({ description: 'Messages by parameter or body path' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details' });

/** A problem of a part of a request, in the body of an answer. */
export const problemInBody = problemSchema.omit({ requestId: true }).meta({
  id: 'ProblemInBody',
  description: 'A problem of a part of the request',
  example: {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'There is no such record.',
    code: 'not_found',
  },
});

/** What a status says, and the code that most problems with it have, for an example where a response lists none. */
export const problemStatuses: Record<number, { text: string; code?: string }> = {
  400: { text: 'The request is malformed or a value is out of range', code: 'validation_failed' },
  401: { text: 'No valid credential', code: 'unauthorized' },
  403: { text: 'The caller may not do this', code: 'insufficient_scope' },
  404: { text: 'The resource does not exist', code: 'not_found' },
  405: { text: 'The path takes other methods', code: 'method_not_allowed' },
  408: { text: 'The body did not arrive in time' },
  409: { text: 'The request conflicts with the stored state', code: 'conflict' },
  412: { text: 'The precondition failed', code: 'stale' },
  413: { text: 'The body is too large', code: 'too_large' },
  414: { text: 'The URI is too long' },
  415: { text: 'The media type is not supported', code: 'unsupported_media_type' },
  422: { text: 'The request is well-formed but cannot be processed', code: 'idempotency_key_reused' },
  429: { text: 'Too many requests', code: 'too_many_requests' },
  431: { text: 'The header fields are too large' },
  500: { text: 'Unexpected error', code: 'internal_error' },
  502: { text: '', code: 'game_server_refused' },
  503: { text: 'The service or a dependency is unavailable; try again later', code: 'too_busy' },
};

/** OpenAPI 3.0 has scopes for OAuth flows only, so the document names them in its texts. */
export const scopesOf = ({ auth }: Route): string =>
  [...new Set(auth.security.flatMap((way) => Object.values(way).flat()))].join(' or ');

/** `not_enough_stock` → `NotEnoughStockProblem`. */
const schemaName = (code: string): string =>
  `${code.replaceAll(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase())}Problem`;

/** The schemas of problems with members of their own, by code. */
export const memberSchemas = (members: Record<string, z.ZodRawShape> = {}): Map<string, z.ZodType> =>
  new Map(
    Object.entries(members).map(([code, shape]) => [
      code,
      problemSchema.extend({ code: z.literal(code), ...shape }).meta({ id: schemaName(code) }),
    ]),
  );

/** A problem with one of these codes; with any code if there are none. */
const schemaOf = (codes: readonly string[], withMembers: ReadonlyMap<string, z.ZodType>): z.ZodType => {
  if (codes.length === 0) return problemSchema;
  const plain = codes.filter((code) => !withMembers.has(code));
  const known = { type: 'object', properties: { code: { type: 'string', enum: plain } } } as const;
  const allOf = [{ $ref: '#/components/schemas/Problem' }, known];
  const alternatives = [
    ...(plain.length > 0 ? [z.unknown().meta({ override: { allOf } })] : []),
    ...codes.flatMap((code) => withMembers.get(code) ?? []),
  ];
  return alternatives.length > 1 ? z.union(alternatives) : (alternatives[0] ?? problemSchema);
};

const statusesOf = ({ auth, body, problems = [] }: Route, scopes: string): readonly number[] => [
  // An undeclared query parameter is a 400, and the limit by network applies to every operation.
  400,
  429,
  500,
  503,
  ...problems,
  ...(auth.security.length > 0 ? [401] : []),
  ...(scopes === '' ? [] : [403]),
  ...(body && !body.raw ? [413, 415] : []),
];

/** The problems of a route, each with its codes where `codes` has some. `withMembers`: schemas of those with members of their own. */
export const problemsOf = (
  route: Route,
  codes: ProblemCodes,
  withMembers: ReadonlyMap<string, z.ZodType>,
): Record<number, ZodOpenApiResponseObject> => {
  const scopes = scopesOf(route);
  const own = codes[route.operationId] ?? {};
  const isKeyed = route.headers?.['Idempotency-Key'] !== undefined;
  const problem = (status: number) => {
    const listed = [
      ...(status === 403 && scopes !== '' && own[status] ? ['insufficient_scope'] : []),
      ...(own[status] ?? []),
      ...(status === 422 && isKeyed ? ['idempotency_key_reused'] : []),
    ];
    const text =
      status === 403 && scopes !== ''
        ? `The credential lacks the scope ${scopes}`
        : (problemStatuses[status]?.text ?? '');
    return {
      description: listed.length === 0 ? text : `${text}: ${listed.map((code) => `\`${code}\``).join(', ')}`,
      content: { 'application/problem+json': { schema: schemaOf(listed, withMembers) } },
    };
  };
  const statuses = [...statusesOf(route, scopes), ...Object.keys(own).map(Number)];
  return Object.fromEntries(statuses.map((status) => [status, problem(status)]));
};

/** Throws for codes of an operation that does not exist. */
export const requireOperations = (codes: ProblemCodes = {}, routes: readonly Route[]): void => {
  const unknown = Object.keys(codes).filter((id) => routes.every(({ operationId }) => operationId !== id));
  if (unknown.length > 0) throw new Error(`no operation has the id ${unknown.join(', ')}`);
};

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
