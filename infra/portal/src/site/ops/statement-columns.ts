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

/** Usual names of columns, in lower case and without spaces and the like. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  transactionId: ['transaction', 'tx', 'txid'],
  playerId: ['player'],
  operation: ['type'],
  roundId: ['round'],
  gameCode: ['game', 'gameid'],
  roundClosed: ['closed'],
  reverseTransactionId: ['reverses'],
  time: ['at', 'date', 'timestamp', 'bookedat'],
};

/** The column that most likely has a field, by its name; else none. */
export const likelyColumn = (field: string, columns: readonly string[]): string => {
  const names = [field.toLowerCase(), ...(otherNames[field] ?? [])];
  const isLikely = (column: string): boolean =>
    names.includes(column.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
  return columns.find((name) => name === field) ?? columns.find(isLikely) ?? '';
};

/** The mapping as the API takes it: `playerId:Player,time:Booked at`. Columns named like their field are left out. */
export const mappingOf = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .filter(([field, column]) => column !== '' && column !== field)
    .map((pair) => pair.join(':'))
    .join(',');
