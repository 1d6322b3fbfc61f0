import { expect, test } from 'vitest';
import { z } from 'zod';
import { collectIssues } from './field-errors.ts';
import type { FieldErrors } from './problem.ts';

const errorsOf = (schema: z.ZodType, value: unknown): FieldErrors => {
  const errors: FieldErrors = Object.create(null);
  collectIssues(errors, schema.safeParse(value).error?.issues ?? [], 'body');
  return errors;
};

test('errors have the path of the field, or the name of the whole value', () => {
  const schema = z.strictObject({ list: z.array(z.strictObject({ id: z.int() })) });
  expect({ ...errorsOf(schema, { list: [{ id: 'x', more: 1 }] }) }).toEqual({
    'list.0.id': [expect.any(String)],
    'list.0.more': ['unknown field'],
  });
  expect(Object.keys(errorsOf(schema, []))).toEqual(['body']);
});

test('a value with very many errors is refused with the first hundred', () => {
  const names = Array.from({ length: 100_000 }, (_, n) => [`field${n}`, 1]);
  expect(Object.keys(errorsOf(z.strictObject({}), Object.fromEntries(names)))).toHaveLength(100);
  expect(Object.keys(errorsOf(z.array(z.string()), Array(100_000).fill(1)))).toHaveLength(100);
});
