import { z } from 'zod';
import type { ZodOpenApiMediaTypeObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { csvLine } from './csv.ts';
import { Problem, problemResponse } from './problem.ts';
import type { Route } from './route.ts';

const ndjson = 'application/x-ndjson';

/** A JSON object as CSV: a line of field names and a line of values. */
const csvOf = (object: object): string => [Object.keys(object), Object.values(object)].map(csvLine).join('');

const textOf = (type: string, example: unknown): unknown => {
  if (typeof example !== 'object' || example === null) return example;
  return type === ndjson ? `${JSON.stringify(example)}\n` : csvOf(example);
};

/**
 * Describes a body in the document. OpenAPI 3.0 cannot describe lines, so NDJSON and CSV are strings; `itemSchema`, a field
 * of OpenAPI 3.2, has the schema of an NDJSON line. `routeExample` is one line as an object; default: the schema's example.
 */
export const contentOf = (
  type: string,
  schema: z.ZodType,
  routeExample: unknown,
): ZodOpenApiMediaTypeObject => {
  const isText = type === ndjson || type.startsWith('text/');
  const { id: name, example: schemaExample } = z.globalRegistry.get(schema) ?? {};
  const example = routeExample ?? schemaExample;
  const description =
    name && (type === ndjson ? `Each line a ${name}` : `A line of names, then each line a ${name}`);
  return {
    schema: isText ? { type: 'string', ...(description && { description }) } : schema,
    ...(type === ndjson && { itemSchema: schema }),
    ...(example !== undefined && { example: isText ? textOf(type, example) : example }),
  };
};

/**
 * Problem codes by operation and status, in addition to those of every operation with the status: 400 `validation_failed`,
 * 404 `not_found`, 412 `stale` and others.
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

/** A problem with a part of a request, in the body of a response. */
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

const exampleRequestId = '0198c2a4-7c1e-7d3a-9f21-5b8e4c6d7a90';

/** The description of a status, and its usual problem code, used in examples of responses that list no codes. */
const problemStatuses: Record<number, { text: string; code: string }> = {
  400: { text: 'The request is malformed or a value is out of range', code: 'validation_failed' },
  401: { text: 'No valid credential', code: 'unauthorized' },
  403: { text: 'The caller may not do this', code: 'insufficient_scope' },
  404: { text: 'The resource does not exist', code: 'not_found' },
  405: { text: 'The path takes other methods', code: 'method_not_allowed' },
  408: { text: 'The body did not arrive in time', code: 'request_timeout' },
  409: { text: 'The request conflicts with the stored state', code: 'conflict' },
  412: { text: 'The precondition failed', code: 'stale' },
  413: { text: 'The body is too large', code: 'too_large' },
  414: { text: 'The URI is too long', code: 'uri_too_long' },
  415: { text: 'The media type is not supported', code: 'unsupported_media_type' },
  422: { text: 'The request is well-formed but cannot be processed', code: 'idempotency_key_reused' },
  429: { text: 'Too many requests', code: 'too_many_requests' },
  431: { text: 'The header fields are too large', code: 'headers_too_large' },
  500: { text: 'Unexpected error', code: 'internal_error' },
  502: { text: '', code: 'game_server_refused' },
  503: { text: 'The service or a dependency is unavailable; try again later', code: 'too_busy' },
};

/** The scopes that a route requires. The document names them in descriptions, because OpenAPI 3.0 has scopes only for OAuth. */
export const scopesOf = ({ auth }: Route): string =>
  [...new Set(auth.security.flatMap((requirement) => Object.values(requirement).flat()))].join(' or ');

/** The component of a problem with additional members: `not_enough_stock` → `NotEnoughStockProblem`. */
export const memberSchemaName = (code: string): string =>
  `${code.replaceAll(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase())}Problem`;

/** The schemas of problems that have additional members, by code. */
export const memberSchemas = (members: Record<string, z.ZodRawShape> = {}): Map<string, z.ZodType> =>
  new Map(
    Object.entries(members).map(([code, shape]) => [
      code,
      problemSchema.extend({ code: z.literal(code), ...shape }).meta({ id: memberSchemaName(code) }),
    ]),
  );

/** The schema of a problem with one of these codes, or with any code if the list is empty. */
const schemaOf = (codes: readonly string[], withMembers: ReadonlyMap<string, z.ZodType>): z.ZodType => {
  if (codes.length === 0) return problemSchema;
  const plainCodes = codes.filter((code) => !withMembers.has(code));
  const codeSchema = { type: 'object', properties: { code: { type: 'string', enum: plainCodes } } } as const;
  const allOf = [{ $ref: '#/components/schemas/Problem' }, codeSchema];
  const alternatives = [
    ...(plainCodes.length > 0 ? [z.unknown().meta({ override: { allOf } })] : []),
    ...codes.flatMap((code) => withMembers.get(code) ?? []),
  ];
  return alternatives.length > 1 ? z.union(alternatives) : (alternatives[0] ?? problemSchema);
};

const statusesOf = ({ auth, body, problems = [] }: Route, scopes: string): readonly number[] => [
  // Every operation returns 400 for an undeclared query parameter, and 429 from the limit of the network.
  400,
  429,
  500,
  503,
  ...problems,
  ...(auth.security.length > 0 ? [401] : []),
  ...(scopes === '' ? [] : [403]),
  ...(body && !body.raw ? [413, 415] : []),
];

/** The bodies of a problem response by code. */
const problemExamples = (status: number, detail: string, codes: readonly string[]) =>
  Object.fromEntries(
    codes.map((code) => {
      const errors = status === 400 ? { errors: { limit: ['must be at most 200'] } } : {};
      const { body } = problemResponse(new Problem({ status, code, detail, ...errors }), exampleRequestId);
      return [code, { value: JSON.parse(body) as object }];
    }),
  );

/** The problem responses of a route, with the codes that `codes` lists. `withMembers`: schemas of problems with additional members. */
export const problemsOf = (
  route: Route,
  codes: ProblemCodes,
  withMembers: ReadonlyMap<string, z.ZodType>,
): Record<number, ZodOpenApiResponseObject> => {
  const scopes = scopesOf(route);
  const operationCodes = codes[route.operationId] ?? {};
  const hasIdempotencyKey = route.headers?.['Idempotency-Key'] !== undefined;
  const problem = (status: number) => {
    const listed = [
      ...(status === 403 && scopes !== '' && operationCodes[status] ? ['insufficient_scope'] : []),
      ...(operationCodes[status] ?? []),
      ...(status === 422 && hasIdempotencyKey ? ['idempotency_key_reused'] : []),
    ];
    const { text: statusText, code } = problemStatuses[status] ?? { text: '', code: 'error' };
    const text = status === 403 && scopes !== '' ? `The credential lacks the scope ${scopes}` : statusText;
    const detail = route.responses[status]?.description ?? text;
    const examples = problemExamples(status, detail, listed.length === 0 ? [code] : listed);
    return {
      description: listed.length === 0 ? text : `${text}: ${listed.map((code) => `\`${code}\``).join(', ')}`,
      content: { 'application/problem+json': { schema: schemaOf(listed, withMembers), examples } },
    };
  };
  const statuses = [...statusesOf(route, scopes), ...Object.keys(operationCodes).map(Number)];
  return Object.fromEntries(statuses.map((status) => [status, problem(status)]));
};

/** Throws if `codes` names an operation that does not exist. */
export const requireOperations = (codes: ProblemCodes = {}, routes: readonly Route[]): void => {
  const unknownIds = Object.keys(codes).filter((id) => routes.every(({ operationId }) => operationId !== id));
  if (unknownIds.length > 0) throw new Error(`no operation has the id ${unknownIds.join(', ')}`);
};

/** A response header of many operations, which is one component of the document. */
const sharedHeader = (id: string, description: string, schema: z.ZodType = z.string().optional()) => ({
  [id]: schema.meta({ header: { id, description } }),
});

const requestId = sharedHeader(
  'X-Request-Id',
  'Id of the request in the logs: the id that the caller sent if it has 1 to 128 letters, digits, `.`, `_` or `-`',
  z.string().min(1).max(128),
);
const rateLimits = {
  ...sharedHeader('RateLimit', 'Requests left in the window (`r`) and seconds until it ends (`t`)'),
  ...sharedHeader('RateLimit-Policy', 'Requests allowed in a window (`q`) and its length in seconds (`w`)'),
};
const challenge = sharedHeader('WWW-Authenticate', 'The authentication schemes that are accepted');
const retryAfter = sharedHeader('Retry-After', 'Seconds to wait before the next attempt', z.string());
const deprecation = {
  ...sharedHeader('Deprecation', 'Since when the operation is deprecated (RFC 9745)'),
  ...sharedHeader('Sunset', 'When the operation will be removed (RFC 8594)'),
};

/** The headers of a response with this status. `routeHeaders`: header name → description. */
export const headersOf = (
  route: Route,
  status: number,
  routeHeaders: Record<string, string> = {},
): z.ZodObject =>
  z.object({
    ...Object.fromEntries(
      Object.entries(routeHeaders).map(([name, description]) => [
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

/** The request headers of a route as parameters of the document. */
export const requestHeaders = ({ headers = {} }: Route) =>
  Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header' as const,
    description,
    schema: { type: 'string' as const, ...(name === 'Idempotency-Key' && { minLength: 1, maxLength: 128 }) },
  }));
