import { z } from 'zod';
import { isDeepStrictEqual } from 'node:util';
import type { ResponseSpec, Route } from './route.ts';

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
  403: 'Not from this caller',
  404: 'No such thing',
  408: 'The body stands still for too long',
  409: 'The request clashes with what is stored',
  412: 'The precondition does not hold',
  413: 'The body is too large',
  414: 'The URI is too long',
  415: 'The media type is not taken',
  422: 'The request can be read but not followed',
  429: 'Too many requests',
  431: 'The header fields are too large',
  500: 'Unexpected failure',
  503: 'A dependency is away; try again later',
};

interface Converted {
  properties: { root: Json };
  $defs?: Record<string, Json>;
  definitions?: Record<string, Json>;
}

/** OpenAPI 3.0 knows one example, and a flag that is written `true` or `false` is a boolean there. */
const forOpenApi30 = (schema: Json): void => {
  const [example] = (schema['examples'] ?? []) as unknown[];
  if (example !== undefined) schema['example'] = example;
  delete schema['examples'];
  if (schema['type'] === 'boolean' && isDeepStrictEqual(schema['enum'], ['true', 'false']))
    delete schema['enum'];
};

/** zod wraps a reference so that a description fits beside it; without one the reference is unwrapped. */
const unwrapReference = (_: string, value: unknown): unknown => {
  const { allOf, ...beside } = (value ?? {}) as { allOf?: unknown };
  return Array.isArray(allOf) && allOf.length === 1 && isDeepStrictEqual(beside, {}) ? allOf[0] : value;
};

/** OpenAPI 3.0 has `nullable` only beside `type`, so of alternatives each one is made nullable. */
const nullableAlternatives = (value: unknown): unknown => {
  const { nullable, anyOf, ...beside } = (value ?? {}) as { nullable?: unknown; anyOf?: unknown };
  if (nullable !== true || !Array.isArray(anyOf) || 'type' in beside) return value;
  return { ...beside, anyOf: anyOf.map((one: object) => ({ ...one, nullable })) };
};

/**
 * Collects named schemas (`.meta({ id })`) as components while it converts. A schema that reads
 * differently as input and as output must not carry one name for both: that throws.
 */
const schemaWriter =
  (components: Record<string, Json>) =>
  (schema: z.ZodType, io: 'input' | 'output'): Json => {
    const wrapped: unknown = z.toJSONSchema(z.object({ root: schema }), {
      target: 'openapi-3.0',
      io,
      unrepresentable: 'throw',
      override: ({ zodSchema, jsonSchema }) => {
        delete jsonSchema.id;
        // zod drops the default and examples of a transformed input; what `.meta` states is kept.
        const { default: stated, examples } = z.globalRegistry.get(zodSchema) ?? {};
        if (io === 'input' && stated !== undefined) jsonSchema.default = stated;
        if (io === 'input' && examples !== undefined) jsonSchema.examples = examples as never;
        forOpenApi30(jsonSchema);
      },
    });
    const local = JSON.parse(
      JSON.stringify(wrapped).replaceAll(/"#\/(\$defs|definitions)\//g, '"#/components/schemas/'),
      (name, value: unknown) => nullableAlternatives(unwrapReference(name, value)),
    ) as Converted;
    for (const [name, definition] of Object.entries({ ...local.$defs, ...local.definitions })) {
      if (name in components && !isDeepStrictEqual(components[name], definition)) {
        throw new Error(`the schema name ${name} stands for two different shapes`);
      }
      components[name] = definition;
    }
    return local.properties.root;
  };

const problemStatuses = (route: Route): number[] => {
  // An undeclared query parameter is a 400, and the limit by network applies to every operation.
  const statuses = new Set([...(route.problems ?? []), 400, 429, 500, 503]);
  if (route.caller.security.length > 0) statuses.add(401);
  if (route.caller.security.some((way) => Object.values(way).flat().length > 0)) statuses.add(403);
  if (route.body && !route.body.raw) for (const status of [413, 415]) statuses.add(status);
  return [...statuses].toSorted((a, b) => a - b);
};

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

const problemTextOf = (route: Route, status: number): string => {
  const scopes = scopesOf(route);
  if (status === 403 && scopes !== '') return `The credential lacks the scope ${scopes}`;
  return problemTexts[status] ?? 'Problem';
};

const retryAfter = {
  headers: {
    'Retry-After': { description: 'Seconds to wait before the next attempt', schema: { type: 'string' } },
  },
};

/** The OpenAPI 3.0.3 document of a service, from the same values that Express dispatches. */
export const createDocument = (about: Interface, routes: readonly Route[]): Json => {
  const components: Record<string, Json> = {};
  const write = schemaWriter(components);
  const securitySchemes: Json = {};
  const paths: Record<string, Json> = {};

  const parameters = (schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] =>
    Object.entries(schema?.shape ?? {}).map(([name, field]) => {
      const { description, ...rest } = write(field as z.ZodType, 'input');
      const shape = unwrapReference('schema', rest);
      const required = place === 'path' || !(field as z.ZodType).safeParse(undefined).success;
      return {
        name,
        in: place,
        required,
        ...(description === undefined ? {} : { description }),
        schema: shape,
      };
    });
  const headerParameters = (headers: Record<string, string> = {}): Json[] =>
    Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    }));
  const answers = (route: Route): Json => {
    const all: Json = {};
    for (const [status, spec] of Object.entries<ResponseSpec>(route.responses)) {
      const headers = Object.entries(spec.headers ?? {}).map(([name, description]) => [
        name,
        { description, schema: { type: 'string' } },
      ]);
      all[status] = {
        description: spec.description,
        ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
        ...(spec.body
          ? { content: { [spec.mediaType ?? 'application/json']: { schema: write(spec.body, 'output') } } }
          : {}),
      };
    }
    for (const status of problemStatuses(route)) {
      all[status] ??= {
        description: problemTextOf(route, status),
        ...(status === 429 || status === 503 ? retryAfter : {}),
        content: { 'application/problem+json': { schema: write(problemSchema, 'output') } },
      };
    }
    return all;
  };

  for (const route of routes) {
    Object.assign(securitySchemes, route.caller.schemes);
    const all = [
      ...parameters(route.params, 'path'),
      ...parameters(route.query, 'query'),
      ...headerParameters(route.headers),
    ];
    const { schema, form = schema, types = ['application/json'] } = route.body ?? {};
    (paths[route.path] ??= {})[route.method] = {
      operationId: route.operationId,
      tags: [route.tag],
      summary: route.summary,
      description: [route.description, requirementOf(route)].filter(Boolean).join('\n\n'),
      security: route.caller.security.map((way) =>
        Object.fromEntries(Object.keys(way).map((scheme) => [scheme, []])),
      ),
      ...(all.length > 0 ? { parameters: all } : {}),
      ...(schema && form
        ? {
            requestBody: {
              required: true,
              content: Object.fromEntries(
                types.map((type) => [
                  type,
                  { schema: write(type.endsWith('form-urlencoded') ? form : schema, 'input') },
                ]),
              ),
            },
          }
        : {}),
      responses: answers(route),
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
      schemas: components,
      ...(Object.keys(securitySchemes).length > 0 ? { securitySchemes } : {}),
    },
  };
};
