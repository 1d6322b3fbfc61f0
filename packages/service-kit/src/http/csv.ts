type Value = string | number | boolean | null;

/**
 * The place before a sign that begins a formula, ASCII or fullwidth: at the start of a cell or after a separator of any
 * program (which may take `;` or a tab where we write `,`, and then does not see our quotes), behind what programs skip.
 */
const beforeFormula = /(^|[,;|\t\r\n])(?=[ "\p{Zs}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫])/gu;

/** A cell that begins with these is a formula for some programs, whatever follows. */
const beginsWithControl = /^[\t\r\n]/;

const isNumber = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const neutralised = (text: string): string => {
  if (isNumber.test(text)) return text;
  const safe = text.replaceAll(beforeFormula, "$1'");
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
