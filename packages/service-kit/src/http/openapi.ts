import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { BodySpec, ResponseSpec, Route } from './route.ts';

type Json = Record<string, unknown>;

export interface Interface {
  title: string;
  /** Version of the interface, not of the code. */
  version: string;
  description: string;
  /** Tag → what the group is for. */
  tags: Record<string, string>;
  /** Path that all addresses start with, for example `/api/v1`; empty for none. */
  basePath: string;
}

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

/** Changes what zod writes for OpenAPI 3.0 where that is no valid or no readable OpenAPI 3.0. */
const correctSchema = (schema: Json): void => {
  const { examples, enum: values, allOf, type } = schema;
  // There is one example instead of a list.
  if (Array.isArray(examples)) schema['example'] = examples[0];
  delete schema['examples'];
  // A flag that is written `true` or `false` is a boolean.
  if (type === 'boolean' && isDeepStrictEqual(values, ['true', 'false'])) delete schema['enum'];
  // A reference is wrapped so that a description fits beside it, and needs no wrapping without one.
  if (Array.isArray(allOf) && Object.keys(schema).length === 1 && allOf.length === 1) {
    delete schema['allOf'];
    Object.assign(schema, allOf[0]);
  }
};

/** `nullable` is valid only beside `type`, so of several alternatives each one is made nullable. */
const correctNullable = (_: string, value: unknown): unknown => {
  const { nullable, anyOf, ...beside } = (value ?? {}) as { nullable?: unknown; anyOf?: unknown };
  if (nullable !== true || !Array.isArray(anyOf) || 'type' in beside) return value;
  return { ...beside, anyOf: anyOf.map((one: object) => ({ ...one, nullable })) };
};

/**
 * Collects named schemas (`.meta({ id })`) as components while it converts. A schema that reads
 * differently as input and as output must not carry one name for both: that throws.
 */
const schemaWriter =
  (components: Json) =>
  (schema: z.ZodType, io: 'input' | 'output'): Json => {
    const wrapped = z.toJSONSchema(z.object({ root: schema }), {
      target: 'openapi-3.0',
      io,
      unrepresentable: 'throw',
      override: ({ zodSchema, jsonSchema }) => {
        delete jsonSchema.id;
        // zod drops the default and examples of a transformed input; what `.meta` states is kept.
        const { default: stated, examples } = z.globalRegistry.get(zodSchema) ?? {};
        if (io === 'input' && stated !== undefined) jsonSchema.default = stated;
        if (io === 'input' && examples !== undefined) jsonSchema.examples = examples as never;
        correctSchema(jsonSchema);
      },
    });
    const text = JSON.stringify(wrapped).replaceAll(/"#\/(\$defs|definitions)\//g, '"#/components/schemas/');
    const { properties, $defs, definitions } = JSON.parse(text, correctNullable) as Record<
      string,
      Record<string, Json>
    >;
    for (const [name, definition] of Object.entries({ ...$defs, ...definitions })) {
      if (name in components && !isDeepStrictEqual(components[name], definition)) {
        throw new Error(`the schema name ${name} stands for two different shapes`);
      }
      components[name] = definition;
    }
    return properties?.['root'] ?? {};
  };

type Write = ReturnType<typeof schemaWriter>;

/** OpenAPI 3.0 has scopes for OAuth flows only, so the document names them in its texts. */
const scopesOf = ({ caller }: Route): string =>
  [...new Set(caller.security.flatMap((way) => Object.values(way).flat()))].join(' or ');

/** Which credential the operation requires, in one sentence. A token in the path is the route's own to describe. */
const requirementOf = (route: Route): string | undefined => {
  if (route.caller.security.length === 0)
    return route.description === undefined ? 'No credential is required.' : undefined;
  const ways = route.caller.security.map((way) => Object.keys(way).join(' and ')).join(', or ');
  const scopes = scopesOf(route);
  return `Requires ${ways}${scopes === '' ? '' : `, with the scope ${scopes}`}.`;
};

const stringHeaders = (headers: Record<string, string>): Json =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );

const parametersOf = ({ params, query, headers = {} }: Route, write: Write): Json[] => {
  const inPlace = (place: 'path' | 'query', schema: z.ZodObject | undefined): Json[] =>
    Object.entries(schema?.shape ?? {}).map(([name, field]) => {
      const { description, ...rest } = write(field as z.ZodType, 'input');
      correctSchema(rest);
      const required = place === 'path' || !(field as z.ZodType).safeParse(undefined).success;
      return { name, in: place, required, ...(description ? { description } : {}), schema: rest };
    });
  const inHeaders = Object.entries(stringHeaders(headers)).map(([name, header]) => ({
    name,
    in: 'header',
    required: false,
    ...(header as Json),
  }));
  return [...inPlace('path', params), ...inPlace('query', query), ...inHeaders];
};

const bodyOf = ({ schema, form = schema, types = ['application/json'] }: BodySpec, write: Write): Json => ({
  required: true,
  content: Object.fromEntries(
    types.map((type) => [type, { schema: write(type.endsWith('form-urlencoded') ? form : schema, 'input') }]),
  ),
});

const problemsOf = (route: Route, write: Write): Json => {
  const scopes = scopesOf(route);
  const statuses = [
    // An undeclared query parameter is a 400, and the limit by network applies to every operation.
    400,
    429,
    500,
    503,
    ...(route.problems ?? []),
    ...(route.caller.security.length > 0 ? [401] : []),
    ...(scopes === '' ? [] : [403]),
    ...(route.body && !route.body.raw ? [413, 415] : []),
  ];
  const problem = (status: number): Json => ({
    description:
      status === 403 && scopes !== '' ? `The credential lacks the scope ${scopes}` : problemTexts[status],
    ...(status === 429 || status === 503
      ? { headers: stringHeaders({ 'Retry-After': 'Seconds to wait before the next attempt' }) }
      : {}),
    content: { 'application/problem+json': { schema: write(problemSchema, 'output') } },
  });
  return Object.fromEntries(statuses.map((status) => [status, problem(status)]));
};

const answersOf = (route: Route, write: Write): Json => {
  const answer = ({ description, headers, body, mediaType = 'application/json' }: ResponseSpec): Json => ({
    description,
    ...(headers === undefined ? {} : { headers: stringHeaders(headers) }),
    ...(body === undefined ? {} : { content: { [mediaType]: { schema: write(body, 'output') } } }),
  });
  const own = Object.entries<ResponseSpec>(route.responses).map(([status, spec]) => [status, answer(spec)]);
  return { ...problemsOf(route, write), ...Object.fromEntries(own) };
};

/** The OpenAPI 3.0.3 document of a service, from the same values that Express dispatches. */
export const createDocument = (about: Interface, routes: readonly Route[]): Json => {
  const schemas: Json = {};
  const write = schemaWriter(schemas);
  const securitySchemes: Json = {};
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const { path, method, operationId, tag, summary, caller, body } = route;
    Object.assign(securitySchemes, caller.schemes);
    const parameters = parametersOf(route, write);
    (paths[path] ??= {})[method] = {
      operationId,
      tags: [tag],
      summary,
      description: [route.description, requirementOf(route)].filter(Boolean).join('\n\n'),
      security: caller.security.map((way) =>
        Object.fromEntries(Object.keys(way).map((scheme) => [scheme, []])),
      ),
      ...(parameters.length > 0 ? { parameters } : {}),
      ...(body ? { requestBody: bodyOf(body, write) } : {}),
      responses: answersOf(route, write),
    };
  }
  return {
    openapi: '3.0.3',
    info: {
      title: about.title,
      version: about.version,
      description: about.description,
      contact: { name: 'Platform maintainers' },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: about.basePath === '' ? '/' : about.basePath }],
    tags: Object.entries(about.tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      ...(Object.keys(securitySchemes).length > 0 ? { securitySchemes } : {}),
    },
  };
};
