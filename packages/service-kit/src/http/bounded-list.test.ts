import { expect, test } from 'vitest';
import { z } from 'zod';
import { boundedList } from './bounded-list.ts';

const issuesOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues ?? [];

test('a list is validated like an array of zod, with transforms and refinements', () => {
  const item = z.string().min(1).transform(Number);
  const schema = boundedList(item, 1, 3).refine((numbers) => numbers[0] !== 7, 'must not begin with 7');
  expect(schema.parse(['1', '2'])).toEqual([1, 2]);
  for (const invalid of [[], 'text', null, ['1', ''], ['7'], [1], { length: 1 }])
    expect(issuesOf(schema, invalid).map(({ path, code }) => [path, code])).toEqual(
      issuesOf(
        z
          .array(item)
          .min(1)
          .max(3)
          .refine((numbers) => numbers[0] !== 7),
        invalid,
      ).map(({ path, code }) => [path, code]),
    );
});

test('a list that is too long is refused without looking at its items', () => {
  let validated = 0;
  const item = z.unknown().refine(() => ++validated > 0);
  const schema = boundedList(item, 0, 2).superRefine(() => void validated++);
  expect(issuesOf(schema, [1, 2, 3])).toMatchObject([{ path: [], message: 'must have at most 2 items' }]);
  expect(validated).toBe(0);
});

test('lists in lists stop after the first hundred errors', () => {
  let validated = 0;
  const item = z.unknown().refine(() => ++validated < 0);
  const schema = boundedList(z.strictObject({ inner: boundedList(item, 0, 500) }), 0, 1000);
  const value = Array.from({ length: 1000 }, () => ({ inner: Array(500).fill(0) }));
  const issues = issuesOf(schema, value);
  expect([issues.length, validated]).toEqual([100, 100]);
  expect(issues[99]?.path).toEqual([0, 'inner', 99]);
});

test('the OpenAPI document describes a list as an array with its bounds', () => {
  expect(z.toJSONSchema(boundedList(z.boolean(), 1, 2))).toMatchObject({
    type: 'array',
    items: { type: 'boolean' },
    minItems: 1,
    maxItems: 2,
  });
});
