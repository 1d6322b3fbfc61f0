import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

/** Parses CSV like a program with this separator: only a quote at the start of a cell counts. */
const cellsOf = (text: string, separator: string): string[] => {
  const cells: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at++; at < text.length; at++) {
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') cell += text[at++];
        else break;
      }
      at++;
    }
    while (at < text.length && text[at] !== separator && text[at] !== '\r' && text[at] !== '\n')
      cell += text[at++];
    cells.push(cell);
    at++;
  }
  return cells;
};

/** A program with another separator reads a number and the next cells as one cell, which is not a formula. */
const isNumber = (text: string): boolean => /^[+-]?\d+(?:,|$)/.test(text);

/** Whether a program reads the cell as a formula. Programs skip these characters before the first sign. */
const isFormula = (cell: string): boolean =>
  /^[\s"\p{Cc}\p{Cf}\p{Zs}\p{DI}\u2800]*[=+\-@]/u.test(cell.normalize('NFKC')) && !isNumber(cell);

test.each([
  '=cmd|calc',
  '+1+cmd',
  '-cmd',
  '@SUM(A1)',
  'x;=cmd|calc',
  'x,=cmd',
  'x;"=cmd"',
  'x\n=cmd',
  '\t=cmd',
  ' =cmd',
  '＝cmd',
  '\u200b=cmd',
  'x;\u200b＝cmd',
  '\ufeff@cmd',
  '"=cmd"',
  ';\u200b"=cmd',
  '\u0085=cmd',
  '\u00a0=cmd',
  '\u2800=cmd',
  '\u115f=cmd',
  '\u3164=cmd',
  '\ufe0f=cmd',
  '\u034f=cmd',
  '\u001f=cmd',
  'x;\u3164\u2800=cmd',
])('%j is not a formula, whichever separator the program uses', (text) => {
  const line = csvLine(['a', text, 'b']);
  for (const separator of [',', ';', '\t']) expect(cellsOf(line, separator).filter(isFormula)).toEqual([]);
  expect(line).toContain("'");
});

test('no text becomes a formula, and parsing returns each text, with at most apostrophes added', () => {
  const text = fc.string({
    unit: fc.constantFrom(
      'a',
      '1',
      '=',
      '-',
      '+',
      '@',
      '＝',
      '\u200b',
      ' ',
      '"',
      ',',
      ';',
      '|',
      '\t',
      '\r',
      '\n',
      "'",
    ),
  });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (values) => {
      const line = csvLine(values);
      for (const separator of [',', ';', '\t'])
        expect(cellsOf(line, separator).filter(isFormula)).toEqual([]);
      const read = [...cellsOf(line.slice(0, -2), ','), ...values.slice(-1).filter((last) => last === '')];
      const withoutApostrophes = (texts: readonly string[]) => texts.map((cell) => cell.replaceAll("'", ''));
      expect(withoutApostrophes(read)).toEqual(withoutApostrophes(values));
    }),
    { numRuns: 3000 },
  );
});

test('numbers and harmless texts stay unchanged', () => {
  expect(
    csvLine([-5, '-5.00', '1e-5', true, null, '', "it's", '2026-11-01T12:00:00.000Z', 'a-b@c.example']),
  ).toBe("-5,-5.00,1e-5,true,,,it's,2026-11-01T12:00:00.000Z,a-b@c.example\r\n");
  expect(csvLine(['a"b', 'c,d', 'e;f'])).toBe('"a""b","c,d","e;f"\r\n');
});
