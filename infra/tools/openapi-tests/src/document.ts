/** The part of OpenAPI 3.0's Schema Object that our documents use. */
export interface Schema {
  $ref?: string;
  type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  nullable?: boolean;
  enum?: unknown[];
  example?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
}

/** `x-itemSchema` is the schema of each line of an NDJSON body. */
type Content = Record<string, { schema: Schema; example?: unknown; 'x-itemSchema'?: Schema }>;

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  example?: unknown;
  schema: Schema;
}

export interface Header {
  $ref?: string;
  required?: boolean;
  schema: Schema;
}

interface Response {
  description?: string;
  headers?: Record<string, Header>;
  content?: Content;
}

export interface SecurityScheme {
  type: 'http' | 'apiKey';
  in?: 'header' | 'cookie';
  name?: string;
}

interface OperationObject {
  operationId: string;
  /** Only for operations that are not below the base path of the service. */
  servers?: { url: string }[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  security?: Record<string, string[]>[];
  responses: Record<string, Response>;
}

export interface OpenApi {
  servers: { url: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    headers?: Record<string, Header>;
    schemas: Record<string, Schema>;
    securitySchemes?: Record<string, SecurityScheme>;
  };
}

export interface Operation {
  id: string;
  method: string;
  /** Including the base path: `/v1/projects/{id}`. */
  template: string;
  parameters: Parameter[];
  /** Schema of an object with the values of the parameters by name. */
  parameterSchema: Schema;
  body: Content | undefined;
  /** Alternatives, each a list of schemes that are required together. Empty: no authentication. */
  security: string[][];
  responses: Record<string, Response>;
}

/** Name of the document in its own references, so that validators can resolve those of a single schema. */
export const DOCUMENT = 'document';

/** Parses the text of a document. */
export const parseDocument = (text: string): OpenApi =>
  JSON.parse(text.replaceAll('"#/components/', `"${DOCUMENT}#/components/`)) as OpenApi;

/** Operations that create come first, those that delete last. */
const methodOrder = ['post', 'put', 'get', 'patch', 'delete'];

/** Returns the operations of a document, ordered so that most find a resource that an earlier operation created. */
export const operationsOf = ({ servers, paths }: OpenApi): Operation[] => {
  // Only the path: requests go to the service under test, not to the host that its document names.
  const baseOf = (operation: OperationObject): string =>
    new URL((operation.servers ?? servers)[0]?.url ?? '/', 'http://service').pathname.replace(/\/$/, '');
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const parameters = (operation.parameters ?? []).map(({ example, schema, ...parameter }) => ({
        ...parameter,
        schema: { ...schema, example },
      }));
      return {
        id: operation.operationId,
        method,
        template: baseOf(operation) + path,
        parameters,
        parameterSchema: {
          type: 'object' as const,
          properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
          required: parameters.filter(({ required }) => required).map(({ name }) => name),
        },
        body: operation.requestBody?.content,
        security: (operation.security ?? []).map((alternative) => Object.keys(alternative)),
        responses: operation.responses,
      };
    }),
  );
  // Deleting or replacing a parent deletes its children, so children first; creating needs the parent, so parents first.
  const depth = ({ template, method }: Operation) =>
    (method === 'post' ? 1 : -1) * template.split('/').length;
  return operations.toSorted(
    (a, b) => methodOrder.indexOf(a.method) - methodOrder.indexOf(b.method) || depth(a) - depth(b),
  );
};
