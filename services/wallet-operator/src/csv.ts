/** A cell that a spreadsheet would take for a formula: these are ids that players or game servers may have chosen. */
const isFormula = (text: string): boolean => text !== '' && '=+-@\t\r'.includes(text.charAt(0));

type Value = string | number | boolean | null;

const cell = (value: Value): string => {
  if (typeof value !== 'string') return String(value ?? '');
  const text = isFormula(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
  return ['"', ',', '\n', '\r'].some((one) => text.includes(one)) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A line of a CSV file (RFC 4180). A text that looks like a formula begins with an apostrophe; numbers stay numbers. */
export const csvLine = (values: readonly Value[]): string => `${values.map(cell).join()}\r\n`;
