import { z } from 'zod';

/** The parts of a schema of an OpenAPI 3.0 document that are read for its examples. */
export interface Schema {
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

/** A body of a request or a response. */
export interface MediaType {
  schema: Schema;
  /** Of each line of NDJSON. */
  'x-itemSchema'?: Schema;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}

type Content = Record<string, MediaType>;

/** An operation of a path. */
export interface Operation {
  operationId: string;
  tags: string[];
  parameters?: { name: string; in: string; required?: boolean; example?: unknown; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

/** The parts of an OpenAPI 3.0 document that are read for its examples. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas?: Record<string, Schema>; examples?: Record<string, { value: unknown }> };
}

/** Values by the name of their field. The first one that fits a field is its example. */
export type Known = Map<string, unknown[]>;

/** Examples by the format of a text. */
export const byFormat: Record<string, string> = {
  'date-time': '2026-01-31T09:30:00.000Z',
  date: '2026-01-31',
  email: 'ada@example.test',
  uri: 'https://shop.example.test/',
  uuid: '0198c2a4-7c1e-7d3a-9f21-5b8e4c6d7a90',
};

const byType: Record<string, unknown> = { boolean: true, integer: 1, number: 1, string: 'text' };

/** Whether a value of another field of the same name is valid here. A reference is taken for an object. */
const isFitting = (value: unknown, schema: Schema): boolean => {
  const items = schema.items?.$ref === undefined ? schema.items : { type: 'object' };
  const own = { ...schema, ...(items && { items }), additionalProperties: true };
  return z
    .fromJSONSchema(own as z.core.JSONSchema.BaseSchema, { defaultTarget: 'openapi-3.0' })
    .safeParse(value).success;
};

/** Collects the values of a body by the names of their fields: texts, numbers, flags and lists of these. */
const collect = (known: Known, name: string, value: unknown): void => {
  const isList = Array.isArray(value);
  if (isList) for (const item of value) collect(known, name, item);
  else if (typeof value === 'object' && value !== null)
    for (const [field, inner] of Object.entries(value)) collect(known, field, inner);
  if (typeof value !== 'object' || (isList && value.every((item) => typeof item !== 'object')))
    known.set(name, [...(known.get(name) ?? []), value]);
};

/** What the examples of a request name: its parameters, `id` for the record of the path, and the fields of its body. */
export const knownOf = (path: string, { parameters = [], requestBody }: Operation): Known => {
  const known: Known = new Map();
  const record = /\{(\w+)\}(?:\/[^{}]+)?$/.exec(path)?.[1];
  for (const { name, in: place, example } of parameters) {
    if (example === undefined) continue;
    if (place === 'path' && name === record) collect(known, 'id', example);
    collect(known, name, example);
  }
  for (const { example } of Object.values(requestBody?.content ?? {})) collect(known, '', example);
  return known;
};

/** The parameters of the path of an operation. */
export const pathNames = ({ parameters = [] }: Operation): string[] =>
  parameters.flatMap(({ name, in: place }) => (place === 'path' ? [name] : []));

/**
 * Returns a function that writes the example of a schema: the one that it states, else that of its parts. A part without
 * one takes a value of the same name from `knowns`, the nearest first, else what its format or type has. `inPath`: the
 * parameters of the path.
 */
export const exampleWriter = (
  schemas: Record<string, Schema>,
  knowns: Known[],
  inPath: readonly string[],
) => {
  const write = (schema: Schema, name: string, outer: readonly string[] = []): unknown => {
    const { $ref, type = '', format = '', enum: values, example, items, anyOf, allOf, nullable } = schema;
    const { additionalProperties: more, required = [] } = schema;
    if (example !== undefined) return example;
    if ($ref !== undefined) {
      const component = schemas[$ref.split('/').at(-1) ?? ''];
      // A record that contains itself has no inner one in its example.
      return outer.includes($ref) || !component ? undefined : write(component, name, [...outer, $ref]);
    }
    const inner = (part: Schema, partName = name) => write(part, partName, outer);
    if (anyOf) return inner(anyOf[0] ?? {});
    if (allOf) return Object.assign({}, ...allOf.map((part) => inner(part)));
    if (schema.properties)
      return Object.fromEntries(
        Object.entries(schema.properties)
          // A record repeats the id of its parent only where the path does not name one.
          .filter(([field]) => required.includes(field) || !inPath.includes(field))
          .map(([field, part]) => [field, inner(part, field)]),
      );
    const same = knowns.flatMap((known) => known.get(name) ?? []).find((value) => isFitting(value, schema));
    if (same !== undefined) return same;
    if (typeof more === 'object') return { [name]: inner(more) };
    if (values) return values[0];
    if (nullable) return null;
    if (type === 'array') return [inner(items ?? {})].filter((item) => item !== undefined);
    return byFormat[format] ?? byType[type] ?? {};
  };
  return write;
};
