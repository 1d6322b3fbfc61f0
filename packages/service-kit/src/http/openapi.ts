import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  createDocument as writeDocument,
  type CreateDocumentOptions,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { isUnboundedArray } from './bounded-list.ts';
import { addExamples } from './document-examples.ts';
import { describeIds, nameBodies } from './openapi-names.ts';
import {
  contentOf,
  headersOf,
  memberSchemas,
  problemsOf,
  requestHeaders,
  requireOperations,
  scopesOf,
  type ProblemCodes,
} from './openapi-responses.ts';
import type { Deprecation, Route } from './route.ts';

export type { ProblemCodes } from './openapi-responses.ts';

type Json = Record<string, unknown>;

export interface ApiInfo {
  title: string;
  /** Version of the interface, not of the code. */
  version: string;
  description: string;
  /** Tag → what the group is for. */
  tags: Record<string, string>;
  /** Path that all addresses start with, for example `/api/v1`; empty for none. */
  basePath: string;
  /** The codes of problems that some operations have. */
  codes?: ProblemCodes;
  /** `members` of problems, by their code. */
  problemMembers?: Record<string, z.ZodRawShape>;
  /**
   * Examples of fields that no request of the service has, by the name of the field; of a parameter of one operation by
   * `deleteQuest.questId`, such as a record that a deletion may take from the demo data.
   */
  examples?: Record<string, unknown>;
}

/** Throws for input that is validated as a whole, however long it is, and for one without a bound of its own. */
const requireBounds = (zodSchema: z.core.$ZodType, schema: Json): void => {
  const text = JSON.stringify(schema);
  if (isUnboundedArray(zodSchema)) throw new Error(`an array in input must be a boundedList: ${text}`);
};

/** Changes what zod writes for OpenAPI 3.0 where that is not valid or not readable OpenAPI 3.0. */
const correctSchema: NonNullable<CreateDocumentOptions['override']> = ({ zodSchema, jsonSchema, io }) => {
  const schema = jsonSchema as Json;
  if (io === 'input') requireBounds(zodSchema, schema);
  const stated = z.core.globalRegistry.get(zodSchema) ?? {};
  // zod drops the default and the examples of a transformed input; what `.meta` states is kept.
  if (io === 'input' && stated['default'] !== undefined) schema['default'] = stated['default'];
  if (io === 'input' && stated.examples !== undefined) schema['examples'] = stated.examples;
  // OpenAPI 3.0 has one example instead of a list.
  if (Array.isArray(schema['examples'])) schema['example'] = schema['examples'][0];
  delete schema['examples'];
  // The same for alternatives that differ in one field, and known to more tools.
  if (schema['oneOf'] !== undefined) {
    schema['anyOf'] = schema['oneOf'];
    delete schema['oneOf'];
    delete schema['type'];
  }
  const { enum: values, anyOf, nullable, type } = schema;
  // OpenAPI 3.0 allows null only where the list has it, too.
  if (nullable === true && Array.isArray(values) && !values.includes(null))
    schema['enum'] = [...values, null];
  // The format says it. Tools make up values from a pattern, such as a time zone of 20 hours.
  if (['date', 'date-time', 'uuid'].includes(String(schema['format']))) delete schema['pattern'];
  // A flag that is written `true` or `false` is a boolean.
  if (type === 'boolean' && isDeepStrictEqual(values, ['true', 'false'])) delete schema['enum'];
  // `nullable` is valid only beside `type`, so one of several alternatives is made nullable: the last, which has no name.
  if (nullable === true && Array.isArray(anyOf) && type === undefined) {
    const last = (anyOf as Json[]).at(-1);
    if (last !== undefined) last['nullable'] = true;
    delete schema['nullable'];
  }
};

/** Which credential the operation requires, in one sentence. A token in the path is the route's own to describe. */
const requirementOf = (route: Route): string | undefined => {
  if (route.auth.security.length === 0)
    return route.description === undefined ? 'No credential is required.' : undefined;
  const ways = route.auth.security.map((way) => Object.keys(way).join(' and ')).join(', or ');
  const scopes = scopesOf(route);
  return `Requires ${ways}${scopes === '' ? '' : `, with the scope ${scopes}`}.`;
};

const bodyOf = ({ body }: Route): Pick<ZodOpenApiOperationObject, 'requestBody'> => {
  if (body === undefined) return {};
  const { schema, form, example, types = ['application/json'] } = body;
  const content = types.map((type) => [
    type,
    form && type.endsWith('form-urlencoded') ? { schema: form } : contentOf(type, schema, example),
  ]);
  return { requestBody: { required: true, content: Object.fromEntries(content) } };
};

/** All answers of a route: its own, and problems, of which it may describe some itself. */
const responsesOf = (
  route: Route,
  problems: Record<number, ZodOpenApiResponseObject>,
): ZodOpenApiResponsesObject => {
  const statuses = Object.keys({ ...problems, ...route.responses }).map(Number);
  const responses = statuses.map((status) => {
    const {
      body,
      mediaType = 'application/json',
      otherTypes,
      headers,
      ...own
    } = route.responses[status] ?? {};
    const types = Object.entries({ ...(body && { [mediaType]: body }), ...otherTypes });
    const content = types.map(([type, schema]) => [type, contentOf(type, schema, undefined)]);
    return [
      status,
      {
        ...problems[status],
        ...own,
        ...(content.length > 0 && { content: Object.fromEntries(content) }),
        headers: headersOf(route, status, headers),
      },
    ];
  });
  return Object.fromEntries(responses) as ZodOpenApiResponsesObject;
};

const deprecationText = ({ since, sunset }: Deprecation): string => {
  const [deprecatedOn, endsOn] = [since, sunset].map((time) => time.toISOString().slice(0, 10));
  return `Deprecated since ${deprecatedOn}; it ends on ${endsOn}.`;
};

const operationOf = (
  route: Route,
  codes: ProblemCodes,
  withMembers: ReadonlyMap<string, z.ZodType>,
): ZodOpenApiOperationObject => {
  const { operationId, tag, summary, description, auth, params, query, deprecated } = route;
  const twice = Object.keys(params?.shape ?? {}).find((name) => name in (query?.shape ?? {}));
  // Generators give the parameters of an operation one name space.
  if (twice !== undefined) throw new Error(`${operationId} has ${twice} in its path and in its query`);
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, requirementOf(route), deprecated && deprecationText(deprecated)]
      .filter(Boolean)
      .join('\n\n'),
    ...(deprecated && { deprecated: true }),
    security: auth.security.map((way) => Object.fromEntries(Object.keys(way).map((scheme) => [scheme, []]))),
    requestParams: { ...(params && { path: params }), ...(query && { query }) },
    parameters: requestHeaders(route),
    ...bodyOf(route),
    responses: responsesOf(route, problemsOf(route, codes, withMembers)),
  };
};

/** Runs for each value of the document, inner ones first; undefined leaves it out. */
const correctValue = (key: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (key === 'parameters' && Array.isArray(value) && value.length === 0) return undefined;
  const { in: place, schema, allOf, ...others } = value as Json & { schema?: Json; allOf?: Json[] };
  const { itemSchema, ...content } = value as Json;
  // OpenAPI 3.0 has it as an extension only.
  if (itemSchema !== undefined) return { ...content, 'x-itemSchema': itemSchema };
  if (place !== undefined && schema !== undefined) {
    // A parameter: zod-openapi leaves its description in the schema too, and `required` out where it is false. Tools look
    // for its example outside of the schema.
    const { description, example, ...rest } = schema;
    return {
      in: place,
      required: false,
      ...(description !== undefined && { description }),
      ...(example !== undefined && { example }),
      ...others,
      schema: correctValue('', rest),
    };
  }
  // zod wraps a reference so that a description fits beside it; without one it needs no wrapping.
  return allOf?.length === 1 && Object.keys(others).length === 0 ? allOf[0] : value;
};

/** The path of a route below that of the service; a route that is not below it is on a server of its own in the document. */
const placeOf = ({ basePath: base }: ApiInfo, { basePath = base, path }: Route) =>
  `${basePath}/`.startsWith(`${base}/`)
    ? { path: basePath.slice(base.length) + path }
    : { path, servers: [{ url: basePath }] };

/** The OpenAPI 3.0.3 document of a service, from the same values that Express dispatches. */
export const createDocument = (api: ApiInfo, routes: readonly Route[]): Json => {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const { codes = {} } = api;
  requireOperations(codes, routes);
  const withMembers = memberSchemas(api.problemMembers);
  for (const route of routes) {
    const { path, ...servers } = placeOf(api, route);
    (paths[path] ??= {})[route.method] = { ...servers, ...operationOf(route, codes, withMembers) };
  }
  const document = writeDocument(
    {
      openapi: '3.0.3',
      info: {
        title: api.title,
        version: api.version,
        description: api.description,
        contact: { name: 'Platform maintainers' },
        license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      },
      servers: [{ url: api.basePath === '' ? '/' : api.basePath }],
      tags: Object.entries(api.tags).map(([name, description]) => ({ name, description })),
      paths,
      components: {
        securitySchemes: Object.assign({}, ...routes.map(({ auth }) => auth.schemes)),
      },
    },
    { override: correctSchema },
  );
  const written = JSON.parse(JSON.stringify(document), correctValue) as Json;
  return addExamples(nameBodies(describeIds(written)), api.examples);
};
