import { z } from 'zod';
import type { ZodOpenApiMediaTypeObject } from 'zod-openapi';
import { csvLine } from './csv.ts';

const ndjson = 'application/x-ndjson';

/** A JSON object as CSV: its names, then its values. */
const csvOf = (object: object): string => [Object.keys(object), Object.values(object)].map(csvLine).join('');

const textOf = (type: string, example: unknown): unknown => {
  if (typeof example !== 'object' || example === null) return example;
  return type === ndjson ? `${JSON.stringify(example)}\n` : csvOf(example);
};

/**
 * What the document says of a body. OpenAPI 3.0 has no lines of a text: NDJSON and CSV are a text, and `itemSchema`, a
 * field of OpenAPI 3.2, is the schema of a line of NDJSON. `given` is one line as an object; without it, the example that the
 * schema states.
 */
export const contentOf = (type: string, schema: z.ZodType, given: unknown): ZodOpenApiMediaTypeObject => {
  const isText = type === ndjson || type.startsWith('text/');
  const { id: name, example: stated } = z.globalRegistry.get(schema) ?? {};
  const example = given ?? stated;
  const description =
    name && (type === ndjson ? `Each line a ${name}` : `A line of names, then each line a ${name}`);
  return {
    schema: isText ? { type: 'string', ...(description && { description }) } : schema,
    ...(type === ndjson && { itemSchema: schema }),
    ...(example !== undefined && { example: isText ? textOf(type, example) : example }),
  };
};
