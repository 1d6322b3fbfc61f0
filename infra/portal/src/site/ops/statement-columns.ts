/** How a statement is read: as the API of reconciliations names it. */
export interface StatementFormat {
  type: 'text/csv' | 'application/x-ndjson';
  /** Between columns of CSV. */
  delimiter: string;
}

const csvColumns = (line: string, delimiter: string): string[] => {
  const columns = [''];
  let isQuoted = false;
  for (const letter of line) {
    if (letter === '"') isQuoted = !isQuoted;
    else if (letter === delimiter && !isQuoted) columns.push('');
    else columns[columns.length - 1] += letter;
  }
  return columns;
};

const jsonColumns = (line: string): string[] => {
  try {
    return Object.keys(JSON.parse(line) as object);
  } catch {
    return [];
  }
};

/** The names of the columns in the first line of a statement; empty when the line cannot be read. */
export const columnsOf = (begin: string, { type, delimiter }: StatementFormat): string[] => {
  const line =
    begin
      .replace(/^\uFEFF/, '')
      .split('\n', 1)[0]
      ?.trim() ?? '';
  const columns = type === 'text/csv' ? csvColumns(line, delimiter) : jsonColumns(line);
  // The mapping of the API separates pairs by commas.
  return columns.filter((name) => name !== '' && !name.includes(','));
};

/** The column that most likely has a field: of the same name in upper or lower case; else none. */
export const likelyColumn = (field: string, columns: readonly string[]): string =>
  columns.find((name) => name === field) ??
  columns.find((name) => name.toLowerCase() === field.toLowerCase()) ??
  '';

/** The mapping as the API takes it: `playerId:Player,time:Booked at`. Columns named like their field are left out. */
export const mappingOf = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .filter(([field, column]) => column !== '' && column !== field)
    .map((pair) => pair.join(':'))
    .join(',');
