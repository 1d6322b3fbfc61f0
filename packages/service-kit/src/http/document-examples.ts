import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { problemStatuses } from './openapi-responses.ts';
import { Problem, problemResponse } from './problem.ts';

/** The parts of a schema of an OpenAPI 3.0 document that are read here and for its names. */
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

/** A body of a request or a response. */
interface MediaType {
  schema: Schema;
  /** Of each line of NDJSON. */
  'x-itemSchema'?: Schema;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
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

/** The parts of an OpenAPI 3.0 document that are read here and for its names. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas?: Record<string, Schema>; examples?: Record<string, { value: unknown }> };
}

/** Values by the name of their field. The first one that fits a field is its example. */
type Known = Map<string, unknown[]>;

/** Examples by the format of a text. */
const byFormat: Record<string, string> = {
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
const knownOf = (path: string, { parameters = [], requestBody }: Operation): Known => {
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
const pathNames = ({ parameters = [] }: Operation): string[] =>
  parameters.flatMap(({ name, in: place }) => (place === 'path' ? [name] : []));

/**
 * Returns a function that writes the example of a schema: the one that it states, else that of its parts. A part without
 * one takes a value of the same name from `knowns`, the nearest first, else what its format or type has. `inPath`: the
 * parameters of the path.
 */
const exampleWriter = (schemas: Record<string, Schema>, knowns: Known[], inPath: readonly string[]) => {
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

const problemOf = (status: string, detail: string, code: string): object => {
  const errors = status === '400' ? { errors: { limit: ['must be at most 200'] } } : {};
  const problem = new Problem({ status: Number(status), code, detail, ...errors });
  return JSON.parse(problemResponse(problem, byFormat['uuid'] ?? '').body) as object;
};

/** A problem for each code of a response, or with the common one where its schema lists none. */
const problemExamples = (
  status: string,
  { description, schema }: { description: string; schema: Schema },
  schemas: Record<string, Schema>,
  write: (schema: Schema, name: string) => unknown,
): object[] => {
  const [detail = ''] = description.split(': `');
  return (schema.anyOf ?? [schema]).flatMap((alternative) => {
    const component = schemas[alternative.$ref?.split('/').at(-1) ?? ''];
    const membersOf = component?.properties?.['code']?.enum;
    const codes = membersOf ?? alternative.allOf?.at(-1)?.properties?.['code']?.enum;
    return (codes ?? [problemStatuses[Number(status)]?.code ?? '']).map((code) => ({
      ...(membersOf && (write(alternative, '') as object)),
      ...problemOf(status, detail, String(code)),
    }));
  });
};

/** Any version of the record is changed; a key is of one operation, because another body with it is refused. */
const headerExample = (name: string, { operationId }: Operation): string | undefined =>
  ({
    'If-Match': '*',
    'If-None-Match': '"3"',
    'Idempotency-Key': `my-${operationId}`,
    'Import-Id': byFormat['uuid'],
    'Import-First-Line': '1',
  })[name];

/**
 * Gives every body, response and required parameter of a document an example, from those of its schemas, parameters and
 * bodies, and from `fields`: values by the name of a field, or of the parameter of one operation (`deleteQuest.questId`).
 * That of a problem stands once, for all operations that have it.
 */
export const addExamples = <D extends object>(written: D, fields: Record<string, unknown> = {}): D => {
  const { paths, components } = written as unknown as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation, known: knownOf(path, operation) })),
  );
  const stated: Known = new Map(Object.entries(fields).map(([name, value]) => [name, [value]]));
  const examples: Record<string, { value: unknown }> = (components.examples ??= {});
  /** Refers to the one component that has this value. */
  const shared = (status: string, value: unknown) => {
    const same = Object.keys(examples).filter((name) => name.startsWith(status));
    const name =
      same.find((other) => isDeepStrictEqual(examples[other]?.value, value)) ??
      `${status}-${same.length + 1}`;
    examples[name] ??= { value };
    return { [name]: { $ref: `#/components/examples/${name}` } };
  };
  for (const { path, operation, known } of operations) {
    const knownWhere = (is: (other: (typeof operations)[number]) => boolean) =>
      operations.filter(is).map((other) => other.known);
    const knowns = [
      known,
      // A list has what creates its records.
      ...knownWhere((other) => path.startsWith(`${other.path}/`)).toReversed(),
      ...knownWhere(({ operation: { tags } }) => tags[0] === operation.tags[0]),
      stated,
      ...knownWhere(() => true),
    ];
    const write = exampleWriter(components.schemas ?? {}, knowns, pathNames(operation));
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
    for (const [status, { description, content = {} }] of Object.entries(operation.responses))
      for (const [type, media] of Object.entries(content)) {
        if (type === 'application/problem+json')
          media.examples = Object.assign(
            {},
            ...problemExamples(
              status,
              { description, schema: media.schema },
              components.schemas ?? {},
              write,
            ).map((problem) => shared(status, problem)),
          );
        else media.example ??= bodyExample(media);
      }
  }
  return written;
};
