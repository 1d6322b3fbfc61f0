type Value = string | number | boolean | null;

/** Programs may separate by `;` or a tab where we write `,`, and then do not see our quotes. */
const separators = /([,;|\t\r\n])/;

/**
 * The sign that begins a formula, ASCII or fullwidth, behind what programs skip or show as nothing: spaces, controls,
 * format characters, default-ignorable code points and the blank of Braille, which Unicode counts as a symbol.
 */
const beginsFormula = /^[\s"\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@＝＋－＠﹦﹢﹣﹫]/u;

/** A cell that begins with these is a formula for some programs, whatever follows. */
const beginsWithControl = /^[\t\r\n]/;

const isNumber = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const neutralised = (text: string): string => {
  if (isNumber.test(text)) return text;
  const safe = text
    .split(separators)
    .map((part) => (beginsFormula.test(part) ? `'${part}` : part))
    .join('');
  return beginsWithControl.test(safe) ? `'${safe}` : safe;
};

const cell = (value: Value): string => {
  if (typeof value !== 'string') return String(value ?? '');
  const text = neutralised(value);
  return /[",;|\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * A line of a CSV file (RFC 4180), with its line end; the only writer of CSV. A text in which a spreadsheet would find a
 * formula, whether it separates by comma, semicolon or tab, gets an apostrophe before the formula; numbers stay numbers.
 */
export const csvLine = (values: readonly Value[]): string => `${values.map(cell).join()}\r\n`;
