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
  /** Version of the API, not of the code. */
  version: string;
  description: string;
  /** Tag → description. */
  tags: Record<string, string>;
  /** Prefix of all paths, for example `/api/v1`; may be empty. */
  basePath: string;
  /** Problem codes of single operations. */
  codes?: ProblemCodes;
  /** Problem code → the shape of its additional members. */
  problemMembers?: Record<string, z.ZodRawShape>;
  /**
   * Examples by field name, for fields that occur in no request. The key `deleteQuest.questId` sets the example of a parameter
   * of one operation, for example a demo record that may be deleted.
   */
  examples?: Record<string, unknown>;
}

/** Throws for an unbounded array in input, because zod would validate all its items. */
const requireBounds = (zodSchema: z.core.$ZodType, schema: Json): void => {
  const text = JSON.stringify(schema);
  if (isUnboundedArray(zodSchema)) throw new Error(`an array in input must be a boundedList: ${text}`);
};

/** Corrects what zod generates where it is invalid or hard to read as OpenAPI 3.0. */
const correctSchema: NonNullable<CreateDocumentOptions['override']> = ({ zodSchema, jsonSchema, io }) => {
  const schema = jsonSchema as Json;
  if (io === 'input') requireBounds(zodSchema, schema);
  const metadata = z.core.globalRegistry.get(zodSchema) ?? {};
  // zod drops the default and the examples of a transformed input, so those of `.meta` are restored.
  if (io === 'input' && metadata['default'] !== undefined) schema['default'] = metadata['default'];
  if (io === 'input' && metadata.examples !== undefined) schema['examples'] = metadata.examples;
  // OpenAPI 3.0 allows one example, not a list.
  if (Array.isArray(schema['examples'])) schema['example'] = schema['examples'][0];
  delete schema['examples'];
  // Equivalent for alternatives that differ in one field, and supported by more tools.
  if (schema['oneOf'] !== undefined) {
    schema['anyOf'] = schema['oneOf'];
    delete schema['oneOf'];
    delete schema['type'];
  }
  const { enum: values, anyOf, nullable, type } = schema;
  // In OpenAPI 3.0 a nullable enum must also list null.
  if (nullable === true && Array.isArray(values) && !values.includes(null))
    schema['enum'] = [...values, null];
  // The format is enough, and from a pattern tools generate invalid values, such as a time zone of 20 hours.
  if (['date', 'date-time', 'uuid'].includes(String(schema['format']))) delete schema['pattern'];
  // A parameter with the values `true` and `false` is a boolean.
  if (type === 'boolean' && isDeepStrictEqual(values, ['true', 'false'])) delete schema['enum'];
  // `nullable` needs a `type`, so the last alternative becomes nullable: unlike the others it has no name.
  if (nullable === true && Array.isArray(anyOf) && type === undefined) {
    const last = (anyOf as Json[]).at(-1);
    if (last !== undefined) last['nullable'] = true;
    delete schema['nullable'];
  }
};

/** The names of the security schemes of each way to authenticate; the document does not name their scopes. */
const alternativesOf = ({ auth }: Route): string[][] => {
  const names = auth.security.map((requirement) => Object.keys(requirement));
  return [...new Map(names.map((schemes) => [schemes.join(), schemes])).values()];
};

/** One sentence on the credential that an operation requires. Routes with a token in the path describe it themselves. */
const requirementOf = (route: Route): string | undefined => {
  if (route.auth.security.length === 0)
    return route.description === undefined ? 'No credential is required.' : undefined;
  const schemes = alternativesOf(route)
    .map((names) => names.join(' and '))
    .join(', or ');
  const scopes = scopesOf(route);
  return `Requires ${schemes}${scopes === '' ? '' : `, with the scope ${scopes}`}.`;
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

/** All responses of a route: those it declares, and problems. A declared problem replaces the general description. */
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
      ...declared
    } = route.responses[status] ?? {};
    const types = Object.entries({ ...(body && { [mediaType]: body }), ...otherTypes });
    const content = types.map(([type, schema]) => [type, contentOf(type, schema, undefined)]);
    return [
      status,
      {
        ...problems[status],
        ...declared,
        ...(content.length > 0 && { content: Object.fromEntries(content) }),
        headers: headersOf(route, status, headers),
      },
    ];
  });
  return Object.fromEntries(responses) as ZodOpenApiResponsesObject;
};

const deprecationText = ({ since, sunset }: Deprecation): string => {
  const [deprecatedOn, endsOn] = [since, sunset].map((time) => time.toISOString().slice(0, 10));
  return `Deprecated since ${deprecatedOn}; it will be removed on ${endsOn}.`;
};

const operationOf = (
  route: Route,
  codes: ProblemCodes,
  withMembers: ReadonlyMap<string, z.ZodType>,
): ZodOpenApiOperationObject => {
  const { operationId, tag, summary, description, params, query, deprecated } = route;
  const duplicate = Object.keys(params?.shape ?? {}).find((name) => name in (query?.shape ?? {}));
  // Code generators put all parameters of an operation into one namespace.
  if (duplicate !== undefined)
    throw new Error(`${operationId} has ${duplicate} in its path and in its query`);
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, requirementOf(route), deprecated && deprecationText(deprecated)]
      .filter(Boolean)
      .join('\n\n'),
    ...(deprecated && { deprecated: true }),
    security: alternativesOf(route).map((names) => Object.fromEntries(names.map((name) => [name, []]))),
    requestParams: { ...(params && { path: params }), ...(query && { query }) },
    parameters: requestHeaders(route),
    ...bodyOf(route),
    responses: responsesOf(route, problemsOf(route, codes, withMembers)),
  };
};

/** Corrects one value of the document. Called for inner values first; undefined removes the value. */
const correctValue = (key: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (key === 'parameters' && Array.isArray(value) && value.length === 0) return undefined;
  const { in: location, schema, allOf, ...others } = value as Json & { schema?: Json; allOf?: Json[] };
  const { itemSchema, ...content } = value as Json;
  // OpenAPI 3.0 does not know `itemSchema`, so it becomes an extension.
  if (itemSchema !== undefined) return { ...content, 'x-itemSchema': itemSchema };
  if (location !== undefined && schema !== undefined) {
    // A parameter. zod-openapi repeats the description in the schema and omits `required: false`; tools expect the example
    // outside of the schema.
    const { description, example, ...schemaFields } = schema;
    return {
      in: location,
      required: false,
      ...(description !== undefined && { description }),
      ...(example !== undefined && { example }),
      ...others,
      schema: correctValue('', schemaFields),
    };
  }
  // zod wraps a reference in `allOf` to add a description. Without a description the wrapper is not needed.
  return allOf?.length === 1 && Object.keys(others).length === 0 ? allOf[0] : value;
};

/** The path of a route relative to the service's base path. A route outside of it gets its own `servers` in the document. */
const locationOf = ({ basePath: base }: ApiInfo, { basePath = base, path }: Route) =>
  `${basePath}/`.startsWith(`${base}/`)
    ? { path: basePath.slice(base.length) + path }
    : { path, servers: [{ url: basePath }] };

/** Creates the OpenAPI 3.0.3 document of a service from the routes that it serves. */
export const createDocument = (api: ApiInfo, routes: readonly Route[]): Json => {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const { codes = {} } = api;
  requireOperations(codes, routes);
  const withMembers = memberSchemas(api.problemMembers);
  for (const route of routes) {
    const { path, ...servers } = locationOf(api, route);
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
  const corrected = JSON.parse(JSON.stringify(document), correctValue) as Json;
  return addExamples(nameBodies(describeIds(corrected)), api.examples);
};
