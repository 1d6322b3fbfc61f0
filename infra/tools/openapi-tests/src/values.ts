import fc, { type Arbitrary } from 'fast-check';
import type { OpenApi, Schema } from './document.ts';

/** Values that the service accepts, by the name of the field or parameter. */
export type KnownValues = Record<string, readonly unknown[]>;

/** Times that all formats and PostgreSQL accept. */
const times = fc.date({ min: new Date('1970-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });

/** Characters and items beyond the minimum of a schema: nested lists of long texts would exceed the body limit. */
const EXTRA_LENGTH = 100;
const EXTRA_ITEMS = 3;

const formats: Record<string, Arbitrary<string>> = {
  uuid: fc.uuid(),
  date: times.map((date) => date.toISOString().slice(0, 10)),
  'date-time': times.map((date) => date.toISOString()),
  email: fc.stringMatching(/^[a-z0-9]{1,12}@[a-z]{1,8}\.test$/),
  uri: fc.stringMatching(/^https:\/\/[a-z]{1,10}\.example\.test\/[a-z]{0,5}$/),
};

/** Generates numbers as strings; `minimum` and `maximum` of the schema apply to the number. */
const int32Strings = ({ minimum = -(2 ** 31), maximum = 2 ** 31 - 1 }: Schema): Arbitrary<string> =>
  fc.integer({ min: minimum, max: maximum }).map(String);

/** Cache by pattern: fast-check takes long to analyse a pattern, and many operations share patterns. */
const generators = new Map<string, Arbitrary<string>>();

const stringsMatching = (pattern: string): Arbitrary<string> => {
  const generator = generators.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
  generators.set(pattern, generator);
  return generator;
};

const strings = (schema: Schema): Arbitrary<string> => {
  const { format, pattern, minLength = 0, maxLength = EXTRA_LENGTH } = schema;
  if (format === 'int32') return int32Strings(schema);
  const formatted = format === undefined ? undefined : formats[format];
  if (formatted) return formatted;
  if (pattern?.startsWith('^') && pattern.endsWith('$')) return stringsMatching(pattern);
  const graphemes = fc.string({
    unit: 'grapheme',
    minLength,
    maxLength: Math.min(maxLength, minLength + EXTRA_LENGTH),
  });
  const texts = graphemes.filter((text) => text.length >= minLength && text.length <= maxLength);
  return pattern === undefined ? texts : texts.filter((text) => new RegExp(pattern).test(text));
};

const numbers = ({ type, minimum, maximum }: Schema): Arbitrary<number> =>
  type === 'integer'
    ? fc.integer({ min: minimum ?? -1_000, max: Math.min(maximum ?? 1_000, Number.MAX_SAFE_INTEGER) })
    : fc.double({ min: minimum ?? -1e6, max: maximum ?? 1e6, noNaN: true });

/** Different notations of dates, times and e-mail addresses. */
const notations: Record<string, string[]> = {
  date: ['2026-01-31', '2026-01-31T09:30:00Z', '0001-01-01'],
  'date-time': [
    '2026-01-31',
    '2026-01-31T09:30Z',
    '2026-01-31T09:30:00Z',
    '2026-01-31T09:30:00.123456+01:00',
    '2026-01-31 09:30:00Z',
    '2026-01-31t09:30:00z',
  ],
  email: ['ADA@Example.TEST', 'a@b.test', 'a@b', "o'neil+x@a-b.c-d.test"],
};

/** Returns values at the limits of a schema, and just beyond. */
const edgesOf = ({
  type,
  format = '',
  minLength,
  maxLength,
  minimum,
  maximum,
  enum: listed,
}: Schema): unknown[] => {
  if (listed) return [String(listed[0]).toUpperCase()];
  if (type === 'integer' || type === 'number')
    return [minimum, maximum].flatMap((edge) =>
      edge === undefined ? [] : [edge - 1, edge, edge + 1, String(edge)],
    );
  if (type !== 'string') return [];
  const lengths = [minLength, maxLength]
    .flatMap((edge) => (edge === undefined ? [] : [edge - 1, edge, edge + 1]))
    .filter((length) => length >= 0 && length <= 300);
  const texts = lengths.flatMap((length) => ['x'.repeat(length), '😀'.repeat(length)]);
  return [...(notations[format] ?? []), ...texts];
};

/** Returns a function that generates values of a schema; `withEdges`: also some at its limits and just beyond. */
export const valuesOf = ({ components }: OpenApi, known: KnownValues, { withEdges = false } = {}) => {
  const objects = ({ properties = {}, required = [], additionalProperties }: Schema): Arbitrary<unknown> => {
    const model = Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, values(schema, name)]),
    );
    const declared = fc.record(model, { requiredKeys: required.filter((name) => name in model) });
    if (typeof additionalProperties !== 'object') return declared;
    const additional = fc.dictionary(fc.string({ maxLength: 20 }), values(additionalProperties), {
      maxKeys: 3,
    });
    return fc.tuple(additional, declared).map(([extra, fields]) => ({ ...extra, ...fields }));
  };

  const inSchema = (schema: Schema): Arbitrary<unknown> => {
    if (schema.$ref) return values(components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((part) => values(part)));
    if (schema.allOf) return fc.tuple(...schema.allOf.map((part) => values(part))).map(merge);
    switch (schema.type) {
      case 'string':
        return strings(schema);
      case 'integer':
      case 'number':
        return numbers(schema);
      case 'boolean':
        return fc.boolean();
      case 'array': {
        const { items = {}, minItems = 0, maxItems = Infinity } = schema;
        return fc.array(values(items), {
          minLength: minItems,
          maxLength: Math.min(maxItems, minItems + EXTRA_ITEMS),
        });
      }
      case 'object':
        return objects(schema);
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  };

  const values = (schema: Schema, name = ''): Arbitrary<unknown> => {
    const choices = [{ weight: 6, arbitrary: inSchema(schema) }];
    if (known[name]) choices.push({ weight: 6, arbitrary: fc.constantFrom(...known[name]) });
    if (schema.nullable) choices.push({ weight: 1, arbitrary: fc.constant(null) });
    const edges = withEdges ? edgesOf(schema) : [];
    if (edges.length > 0) choices.push({ weight: 3, arbitrary: fc.constantFrom(...edges) });
    return fc.oneof(...choices);
  };
  return values;
};

/** Combines values of the schemas of `allOf`: merges objects, else takes the last value. */
const merge = (parts: unknown[]): unknown =>
  parts.every((part) => typeof part === 'object' && part !== null)
    ? Object.assign({}, ...parts)
    : parts.at(-1);
