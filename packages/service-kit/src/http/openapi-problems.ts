import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import type { Route } from './route.ts';

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

const problemTexts: Record<number, string> = {
  400: 'The request is malformed or a value is out of range',
  401: 'No valid credential',
  403: 'The caller may not do this',
  404: 'The resource does not exist',
  405: 'The path takes other methods',
  408: 'The body did not arrive in time',
  409: 'The request conflicts with the stored state',
  412: 'The precondition failed',
  413: 'The body is too large',
  414: 'The URI is too long',
  415: 'The media type is not supported',
  422: 'The request is well-formed but cannot be processed',
  429: 'Too many requests',
  431: 'The header fields are too large',
  500: 'Unexpected error',
  503: 'The service or a dependency is unavailable; try again later',
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
        : (problemTexts[status] ?? '');
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
