import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { memberSchemaName } from './openapi-responses.ts';

/** The parts of an OpenAPI 3.0 schema that this file and openapi-names.ts read. */
interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: unknown[];
  example?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  nullable?: boolean;
}

/** The body of a request or response. */
interface MediaType {
  schema: Schema;
  /** Schema of each NDJSON line. */
  'x-itemSchema'?: Schema;
  example?: unknown;
  /** Before `addExamples`: problem code → example. After it: name of a component → reference. */
  examples?: Record<string, { value?: unknown; $ref?: string }>;
}

export type Content = Record<string, MediaType>;

/** An operation of a path. */
export interface Operation {
  operationId: string;
  tags: string[];
  parameters?: {
    name: string;
    in: string;
    description?: string;
    required?: boolean;
    example?: unknown;
    schema: Schema;
  }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

/** The parts of an OpenAPI 3.0 document that this file and openapi-names.ts read. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas?: Record<string, Schema>; examples?: Record<string, { value: unknown }> };
}

/** Field name → example values. The first value that is valid for a field becomes its example. */
type FieldValues = Map<string, unknown[]>;

/** String format → example. */
const byFormat: Record<string, string> = {
  'date-time': '2026-01-31T09:30:00.000Z',
  date: '2026-01-31',
  email: 'ada@example.test',
  uri: 'https://shop.example.test/',
  uuid: '0198c2a4-7c1e-7d3a-9f21-5b8e4c6d7a90',
};

const byType: Record<string, unknown> = { boolean: true, integer: 1, number: 1, string: 'text' };

/** Whether a value is valid for this schema. `$ref`s are not resolved: items that are a `$ref` count as any object. */
const isValidFor = (value: unknown, schema: Schema): boolean => {
  const items = schema.items?.$ref === undefined ? schema.items : { type: 'object' };
  const withoutReferences = { ...schema, ...(items && { items }), additionalProperties: true };
  return z
    .fromJSONSchema(withoutReferences as z.core.JSONSchema.BaseSchema, { defaultTarget: 'openapi-3.0' })
    .safeParse(value).success;
};

/** Adds the values of a body by field name: strings, numbers, booleans and lists of these. */
const collect = (fieldValues: FieldValues, name: string, value: unknown): void => {
  const isList = Array.isArray(value);
  if (isList) for (const item of value) collect(fieldValues, name, item);
  else if (typeof value === 'object' && value !== null)
    for (const [field, inner] of Object.entries(value)) collect(fieldValues, field, inner);
  if (typeof value !== 'object' || (isList && value.every((item) => typeof item !== 'object')))
    fieldValues.set(name, [...(fieldValues.get(name) ?? []), value]);
};

/** The example values of a request: its parameters, the record id in the path as `id`, and the fields of its body. */
const requestValues = (path: string, { parameters = [], requestBody }: Operation): FieldValues => {
  const fieldValues: FieldValues = new Map();
  const idParameter = /\{(\w+)\}(?:\/[^{}]+)?$/.exec(path)?.[1];
  for (const { name, in: location, example } of parameters) {
    if (example === undefined) continue;
    if (location === 'path' && name === idParameter) collect(fieldValues, 'id', example);
    collect(fieldValues, name, example);
  }
  for (const { example } of Object.values(requestBody?.content ?? {})) collect(fieldValues, '', example);
  return fieldValues;
};

/** The names of the path parameters of an operation. */
const pathNames = ({ parameters = [] }: Operation): string[] =>
  parameters.flatMap(({ name, in: location }) => (location === 'path' ? [name] : []));

/**
 * Returns a function that creates the example of a schema: its own example, else one composed of those of its fields. A
 * field without an example gets a value of the same name from `sources` (nearest first), else one for its format or type.
 */
const exampleWriter = (
  schemas: Record<string, Schema>,
  sources: FieldValues[],
  pathParameters: readonly string[],
) => {
  const write = (schema: Schema, name: string, outerRefs: readonly string[] = []): unknown => {
    const { $ref, type = '', format = '', enum: values, example, items, anyOf, allOf, nullable } = schema;
    const { additionalProperties, required = [] } = schema;
    if (example !== undefined) return example;
    if ($ref !== undefined) {
      const component = schemas[$ref.split('/').at(-1) ?? ''];
      // A record that contains itself is left out of its own example.
      return outerRefs.includes($ref) || !component
        ? undefined
        : write(component, name, [...outerRefs, $ref]);
    }
    const writeInner = (inner: Schema, innerName = name) => write(inner, innerName, outerRefs);
    if (anyOf) return writeInner(anyOf[0] ?? {});
    if (allOf) return Object.assign({}, ...allOf.map((inner) => writeInner(inner)));
    if (schema.properties)
      return Object.fromEntries(
        Object.entries(schema.properties)
          // An optional field that the path already names is left out.
          .filter(([field]) => required.includes(field) || !pathParameters.includes(field))
          .map(([field, inner]) => [field, writeInner(inner, field)]),
      );
    const sameName = sources.flatMap((fieldValues) => fieldValues.get(name) ?? []);
    const validValue = sameName.find((value) => isValidFor(value, schema));
    if (validValue !== undefined) return validValue;
    if (typeof additionalProperties === 'object') return { [name]: writeInner(additionalProperties) };
    if (values) return values[0];
    if (nullable) return null;
    if (type === 'array') return [writeInner(items ?? {})].filter((item) => item !== undefined);
    return byFormat[format] ?? byType[type] ?? {};
  };
  return write;
};

/** `If-Match` allows any version. Each operation has its own Idempotency-Key, because a key with another body is refused. */
const headerExample = (name: string, { operationId }: Operation): string | undefined =>
  ({
    'If-Match': '*',
    'If-None-Match': '"3"',
    'Idempotency-Key': `my-${operationId}`,
    'Import-Id': byFormat['uuid'],
    'Import-First-Line': '1',
  })[name];

/**
 * Adds an example to every body, response and required parameter of a document. It composes them of the examples in schemas,
 * parameters and bodies, and of `fields`: values by field name, or by the parameter of one operation
 * (`deleteQuest.questId`). The example of a problem is a component that all operations share.
 */
export const addExamples = <D extends object>(document: D, fields: Record<string, unknown> = {}): D => {
  const { paths, components } = document as unknown as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation, values: requestValues(path, operation) })),
  );
  const givenValues: FieldValues = new Map(Object.entries(fields).map(([name, value]) => [name, [value]]));
  const examples: Record<string, { value: unknown }> = (components.examples ??= {});
  /** Returns a reference to the component with this value. Adds the component if there is none. */
  const referTo = (status: string, value: unknown) => {
    const sameStatus = Object.keys(examples).filter((name) => name.startsWith(status));
    const name =
      sameStatus.find((other) => isDeepStrictEqual(examples[other]?.value, value)) ??
      `${status}-${sameStatus.length + 1}`;
    examples[name] ??= { value };
    return [name, { $ref: `#/components/examples/${name}` }] as const;
  };
  for (const { path, operation, values } of operations) {
    const valuesOf = (isSource: (other: (typeof operations)[number]) => boolean) =>
      operations.filter(isSource).map((other) => other.values);
    const sources = [
      values,
      // Operations of the parent paths, such as the one that creates the record.
      ...valuesOf((other) => path.startsWith(`${other.path}/`)).toReversed(),
      ...valuesOf(({ operation: { tags } }) => tags[0] === operation.tags[0]),
      givenValues,
      ...valuesOf(() => true),
    ];
    const write = exampleWriter(components.schemas ?? {}, sources, pathNames(operation));
    const bodyExample = ({ schema, 'x-itemSchema': line }: MediaType) =>
      line === undefined ? write(schema, '') : `${JSON.stringify(write(line, ''))}\n`;
    for (const parameter of operation.parameters ?? [])
      if (parameter.in === 'header') parameter.example = headerExample(parameter.name, operation);
      else if (parameter.required)
        parameter.example =
          fields[`${operation.operationId}.${parameter.name}`] ??
          parameter.example ??
          write(parameter.schema, parameter.name);
    for (const content of Object.values(operation.requestBody?.content ?? {}))
      content.example ??= bodyExample(content);
    /** A problem with additional members has a component with its code in the name. */
    const problemExample = (code: string, value: unknown): unknown => {
      const withMembers = components.schemas?.[memberSchemaName(code)];
      return withMembers ? { ...(write(withMembers, '') as object), ...(value as object) } : value;
    };
    for (const [status, { content = {} }] of Object.entries(operation.responses))
      for (const media of Object.values(content))
        if (media.examples === undefined) media.example ??= bodyExample(media);
        else
          media.examples = Object.fromEntries(
            Object.entries(media.examples).map(([code, { value }]) =>
              referTo(status, problemExample(code, value)),
            ),
          );
  }
  return document;
};
