/** Format of a statement, as in the parameters of the reconciliation API. */
export interface StatementFormat {
  type: 'text/csv' | 'application/x-ndjson';
  /** Separator of CSV columns. */
  delimiter: string;
}

const csvColumns = (line: string, delimiter: string): string[] => {
  const columns = [''];
  let isQuoted = false;
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted;
    else if (character === delimiter && !isQuoted) columns.push('');
    else columns[columns.length - 1] += character;
  }
  return columns;
};

const parseJsonLine = (line: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return {};
  }
};

/** All names in the first line of a statement; empty when the line cannot be read. */
const headerOf = (begin: string, { type, delimiter }: StatementFormat): string[] => {
  const [firstLine = ''] = begin.replace(/^\uFEFF/, '').split('\n', 1);
  const line = firstLine.trim();
  return type === 'text/csv' ? csvColumns(line, delimiter) : Object.keys(parseJsonLine(line));
};

/** The names of the columns that can contain a field of a statement. */
export const columnsOf = (begin: string, format: StatementFormat): string[] =>
  // The mapping of the API separates pairs by commas.
  headerOf(begin, format).filter((name) => name !== '' && !name.includes(','));

/** Converts an ISO time with `Z` or an offset to ms since 1970; NaN for any other value. */
const instantOf = (value: unknown): number => {
  if (typeof value !== 'string' || value[10] !== 'T') return Number.NaN;
  const hasZone = value.endsWith('Z') || '+-'.includes(value.at(-6) ?? '?');
  return hasZone ? Date.parse(value) : Number.NaN;
};

/**
 * The earliest and the latest time, in ms since 1970, in a column of a statement. `end` is the last part of a statement
 * that is longer than `begin`. Undefined if no line has a time.
 */
export const timesOf = (
  [begin, end]: readonly [begin: string, end: string],
  column: string,
  format: StatementFormat,
): { first: number; last: number } | undefined => {
  const index = headerOf(begin, format).indexOf(column);
  const valueOf = (line: string): unknown =>
    format.type === 'text/csv'
      ? csvColumns(line.trim(), format.delimiter)[index]
      : parseJsonLine(line)[column];
  // `end` begins in the middle of a line.
  const lines = [...begin.split('\n'), ...end.split('\n').slice(1)];
  const times = lines.map((line) => instantOf(valueOf(line))).filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : { first: Math.min(...times), last: Math.max(...times) };
};

/** Other common names of columns, in lower case, only letters and digits. */
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

/** The column that most likely contains a field, by its name; '' if there is none. */
export const likelyColumn = (field: string, columns: readonly string[]): string => {
  const names = [field.toLowerCase(), ...(otherNames[field] ?? [])];
  const isLikely = (column: string): boolean =>
    names.includes(column.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
  return columns.find((name) => name === field) ?? columns.find(isLikely) ?? '';
};

/** The mapping in the format of the API: `playerId:Player,time:Booked at`. Columns named like their field are left out. */
export const mappingOf = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .filter(([field, column]) => column !== '' && column !== field)
    .map((pair) => pair.join(':'))
    .join(',');
