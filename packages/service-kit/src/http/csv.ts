type Value = string | number | boolean | null;

/** Spreadsheets may split at `;` or a tab instead of `,`, and then ignore our quotes. */
const separators = /([,;|\t\r\n])/;

/**
 * The sign that begins a formula, ASCII or fullwidth, after characters that programs skip or show as blank: spaces, control
 * and format characters, default-ignorable code points and the Braille blank, which Unicode classifies as a symbol.
 */
const beginsFormula = /^[\s"\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@＝＋－＠﹦﹢﹣﹫]/u;

/** Some programs read any cell that begins with one of these as a formula. */
const beginsWithControl = /^[\t\r\n]/;

const isNumber = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const escapeFormulas = (text: string): string => {
  if (isNumber.test(text)) return text;
  const escaped = text
    .split(separators)
    .map((part) => (beginsFormula.test(part) ? `'${part}` : part))
    .join('');
  return beginsWithControl.test(escaped) ? `'${escaped}` : escaped;
};

const cell = (value: Value): string => {
  if (typeof value !== 'string') return String(value ?? '');
  const text = escapeFormulas(value);
  return /[",;|\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * Writes a line of a CSV file (RFC 4180), with its line end. All CSV is written by this function. It puts an apostrophe before
 * text that a spreadsheet would read as a formula, whether it splits at comma, semicolon or tab. Numbers are unchanged.
 */
export const csvLine = (values: readonly Value[]): string => `${values.map(cell).join()}\r\n`;
