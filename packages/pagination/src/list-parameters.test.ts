import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDocument } from '@platform/service-kit/openapi';
import { anyone, route } from '@platform/service-kit/route';
import { z } from 'zod';
import { indexedPageOf, pageIndexQuery, pageLimitQuery, pageOf, skipTakeQuery, windowOf } from './list.ts';

/** A second implementation of the parser to compare with: the text must equal the printed number. */
const model = (min: number, max: number, minusZero: boolean) => (text: string) => {
  if (minusZero && text === '-0') return 0;
  const digits = [...text].every((letter) => '0123456789'.includes(letter)) && text !== '';
  if (!digits || BigInt(text).toString() !== text) return undefined;
  const value = BigInt(text);
  return value >= BigInt(min) && value <= BigInt(max) ? Number(value) : undefined;
};

const parameters = [
  { name: 'page', schema: pageLimitQuery.page, min: 1, max: 100_000, fallback: 1 },
  { name: 'limit', schema: pageLimitQuery.limit, min: 1, max: 200, fallback: 50 },
  { name: 'Skip', schema: skipTakeQuery.Skip, min: 0, max: 2 ** 31 - 1, fallback: 0, minusZero: true },
  { name: 'Take', schema: skipTakeQuery.Take, min: 0, max: 1000, fallback: 100, minusZero: true },
  { name: 'PageIndex', schema: pageIndexQuery.PageIndex, min: 0, max: 2 ** 31 - 1, fallback: 0 },
  { name: 'PageSize', schema: pageIndexQuery.PageSize, min: 1, max: 500, fallback: 25 },
];

describe.each(parameters)('$name', ({ schema, min, max, fallback, minusZero = false }) => {
  const expected = model(min, max, minusZero);
  const nearNumbers = fc.oneof(
    fc.integer({ min: min - 2, max: max + 2 }).map(String),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    fc.double().map(String),
    fc
      .tuple(fc.constantFrom('+', '-', '0', ' ', '\n', '\u00a0', '٣'), fc.nat())
      .map((parts) => parts.join('')),
    fc
      .tuple(fc.nat(), fc.constantFrom('.0', 'e2', ' ', '\n', 'n', '\0', '_0', ','))
      .map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
  );

  it('accepts a string exactly when it is the plain decimal form of a number in range', () => {
    fc.assert(
      fc.property(nearNumbers, (text) => {
        const result = schema.safeParse(text);
        expect(result.success ? result.data : undefined).toBe(expected(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    '',
    '01',
    '+1',
    '1.0',
    ' 1',
    '1 ',
    '1\n',
    '1e2',
    '0x1',
    '-1',
    '00',
    '1_0',
    'NaN',
    'Infinity',
    '٣',
  ])('rejects %j and says why', (text) => {
    const result = schema.safeParse(text);
    expect(result.error?.issues.map(({ message }) => message)).toHaveLength(1);
    expect(result.error?.issues[0]?.message).toMatch(/^must be (a plain decimal number|from \d+ to \d+)/);
  });

  it('accepts both ends of its range and rejects values beyond', () => {
    expect(schema.parse(String(min))).toBe(min);
    expect(schema.parse(String(max))).toBe(max);
    expect(schema.safeParse(String(min - 1)).success).toBe(false);
    expect(schema.safeParse(String(max + 1)).error?.issues[0]?.message).toBe(`must be from ${min} to ${max}`);
  });

  it('has a default', () => expect(schema.parse(undefined)).toBe(fallback));

  it('is optional and has its range and default in the OpenAPI document', () => {
    const list = route(
      {
        method: 'get',
        path: '/list',
        operationId: 'list',
        tag: 'Lists',
        summary: 'A list',
        auth: anyone,
        query: z.strictObject({ value: schema }),
        responses: { 204: { description: 'Nothing' } },
      },
      () => ({ status: 204 }),
    );
    const about = { title: 'T', version: '1', description: '', tags: {}, basePath: '' };
    expect(createDocument(about, [list])).toMatchObject({
      paths: {
        '/list': {
          get: {
            parameters: [
              {
                name: 'value',
                required: false,
                schema: minusZero
                  ? { type: 'string', format: 'int32', minimum: min, default: String(fallback) }
                  : { type: 'integer', minimum: min, maximum: max, default: fallback },
              },
            ],
          },
        },
      },
    });
  });
});

describe('offsets', () => {
  it('are exact when the product exceeds int32', () => {
    expect(indexedPageOf({ PageIndex: 2_147_483_647, PageSize: 500 }).offset).toBe(1_073_741_823_500n);
    expect(pageOf({ page: 100_000, limit: 200 })).toEqual({
      number: 100_000,
      limit: 200,
      offset: 19_999_800n,
    });
    expect(pageOf({ page: 1, limit: 50 }).offset).toBe(0n);
    expect(windowOf({ Skip: 2_147_483_647, Take: 0 })).toEqual({ offset: 2_147_483_647n, limit: 0 });
  });

  it('treats -0 as 0', () => {
    expect(Object.is(skipTakeQuery.Skip.parse('-0'), 0)).toBe(true);
    expect(pageIndexQuery.PageIndex.safeParse('-0').success).toBe(false);
  });
});
