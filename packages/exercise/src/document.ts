/** A Schema Object of OpenAPI 3.0, as far as our documents use it. */
export interface Schema {
  $ref?: string;
  type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  nullable?: boolean;
  enum?: unknown[];
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

type Content = Record<string, { schema: Schema }>;

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
}

export interface SecurityScheme {
  type: 'http' | 'apiKey';
  in?: 'header' | 'cookie';
  name?: string;
}

interface OperationObject {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  security?: Record<string, string[]>[];
  responses: Record<string, { content?: Content }>;
}

export interface OpenApi {
  servers: { url: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema>; securitySchemes?: Record<string, SecurityScheme> };
}

export interface Operation {
  id: string;
  method: string;
  /** With the base path in front: `/v1/projects/{id}`. */
  template: string;
  parameters: Parameter[];
  body: Content | undefined;
  /** Alternatives, each the names of the schemes that are needed together; none: open to anyone. */
  security: string[][];
  responses: Record<string, { content?: Content }>;
}

/** What makes something comes first, and what removes it last. */
const order = ['post', 'put', 'get', 'patch', 'delete'];

/** The operations of a document, in an order that meets most of them with something to work on. */
export const operationsOf = ({ servers, paths }: OpenApi): Operation[] => {
  const base = (servers[0]?.url ?? '').replace(/\/$/, '');
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method,
      template: base + path,
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content,
      security: (operation.security ?? []).map((way) => Object.keys(way)),
      responses: operation.responses,
    })),
  );
  // What is replaced or removed takes what lies under it along, so that comes before; what is made needs what is above.
  const depth = ({ template, method }: Operation) =>
    (method === 'post' ? 1 : -1) * template.split('/').length;
  return all.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method) || depth(a) - depth(b));
};
