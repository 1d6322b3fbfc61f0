import { Readable } from 'node:stream';
import { csvLine } from '@platform/service-kit/csv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRecords, splitCsv } from './statement.ts';

const read = async (pieces: readonly (string | Buffer)[], isCsv = true) => {
  const records = [];
  const body = Readable.from(pieces.map((piece) => Buffer.from(piece as string)));
  for await (const some of readRecords(body, isCsv, 2 ** 30)) records.push(...some);
  return records;
};

/** The bytes of a text, cut at `cuts`. */
const cutInto = (text: string, cuts: readonly number[]): Buffer[] => {
  const bytes = Buffer.from(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
};

// Each of them means something in CSV; no formulas, which are written with an apostrophe.
const value = fc.string({ unit: fc.constantFrom('a', 'é', '😀', ' ', '"', ',', ';', '\n', '\r\n') });
const row = fc.array(
  value.map((text) => `x${text}`),
  { minLength: 1, maxLength: 4 },
);

test('what is written as CSV is read, in whatever pieces it arrives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row), fc.array(fc.nat()), fc.boolean(), async (rows, cuts, hasEnd) => {
      const text = `\ufeff${rows.map((values) => csvLine(values)).join('')}`;
      const records = await read(cutInto(hasEnd ? text : text.slice(0, -2), cuts));
      expect(records.map((record) => splitCsv(record, ','))).toEqual(rows);
      let line = 1;
      for (const [index, values] of rows.entries()) {
        expect(records[index]?.line).toBe(line);
        line += csvLine(values).split('\n').length - 1;
      }
    }),
  );
});

test.each([
  ['a,"b', 'line 2 has a quote that is not closed'],
  ['a,"b"c,"d"', 'line 2 has text after a closing quote'],
  ['a,b"c"', 'line 2 has a quote within a value that is not quoted'],
  [`a,"${'x'.repeat(17_000)}"`, 'line 2 is longer than 16384 characters'],
  [`a,"${'\n'.repeat(17_000)}"`, 'line 2 is longer than 16384 characters'],
])('of the record %.20s it is said what is wrong', async (record, what) => {
  const split = async () => (await read([`h\n${record}\n`, 'more\n'])).map((one) => splitCsv(one, ','));
  await expect(split()).rejects.toMatchObject({
    code: 'malformed_statement',
    message: `The statement cannot be read: ${what}.`,
  });
});

test('quotes mean nothing in lines of JSON', async () => {
  expect(await read(['{"a": "\\""}\r\n\n', '{}'], false)).toEqual([
    { line: 1, text: '{"a": "\\""}' },
    { line: 3, text: '{}' },
  ]);
});
