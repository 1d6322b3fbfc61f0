import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseItems } from './json-items.ts';

const options = {
  item: z.unknown(),
  maxItems: 1000,
  maxItemBytes: 100_000,
  convert: (item: unknown) => item,
};
const parse = (text: string) => parseItems(Buffer.from(text), options);

test('the items of an array are those that JSON.parse returns', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 1, '\t'), async (items, indent) => {
      expect(await parse(` ${JSON.stringify(items, undefined, indent)}\n`)).toEqual(
        JSON.parse(JSON.stringify(items)),
      );
    }),
  );
});

test('text is accepted only if JSON.parse accepts it as an array', async () => {
  const piece = fc.constantFrom(
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '\\',
    '"a"',
    '1',
    ' ',
    'null',
    '{"a":[1]}',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const text = pieces.join('');
      const parsed = await parse(text).catch(() => undefined);
      return parsed === undefined || JSON.stringify(parsed) === JSON.stringify(JSON.parse(text));
    }),
    { numRuns: 2000 },
  );
});

test.for([
  '',
  '[',
  ']',
  '[1',
  '1]',
  '[1,]',
  '[,1]',
  '[1 2]',
  '[]]',
  '[[]',
  '[}',
  '["]',
  '{"a":}',
  '["\\"]',
  '[\ud800]',
])('%s is malformed', async (text) => {
  await expect(parse(text)).rejects.toMatchObject({ status: 400, code: 'malformed_json' });
});

test('JSON that is not an array is refused', async () => {
  for (const text of ['{"a":1}', 'null', ` "${'x'.repeat(200_000)}`])
    await expect(parse(text)).rejects.toMatchObject({ errors: { body: ['must be an array'] } });
});

test('the rest of an item that is too long is not read', async () => {
  for (const text of ['[1,23456]]', '[1,"\\"\\"\\"\\"\\"]', '[1,      ]]'])
    await expect(parseItems(Buffer.from(text), { ...options, maxItemBytes: 4 })).rejects.toMatchObject({
      errors: { 1: ['must be at most 4 bytes of JSON'] },
    });
});

test('an item that is too large, or one too many, is refused', async () => {
  const small = { ...options, maxItems: 2, maxItemBytes: 4 };
  expect(await parseItems(Buffer.from('["ab",1234]'), small)).toEqual(['ab', 1234]);
  await expect(parseItems(Buffer.from('[1,"abc"]'), small)).rejects.toMatchObject({
    errors: { 1: ['must be at most 4 bytes of JSON'] },
  });
  await expect(parseItems(Buffer.from('[1,2,3]'), small)).rejects.toMatchObject({
    errors: { body: ['must have at most 2 items'] },
  });
});

test('errors name the item, and validation stops after the first hundred', async () => {
  let validated = 0;
  const item = z.strictObject({ n: z.int().refine(() => ++validated > 0) });
  const failure = await parseItems(
    Buffer.from(JSON.stringify(Array.from({ length: 900 }, () => ({ n: 'x', m: 1 })))),
    {
      ...options,
      item,
    },
  ).catch((error: { errors: object }) => Object.keys(error.errors));
  expect(failure).toHaveLength(100);
  expect(failure).toEqual(expect.arrayContaining(['0.n', '0.m', '49.n']));
});
