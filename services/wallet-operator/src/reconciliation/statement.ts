import type { Readable } from 'node:stream';
import { BadRequest, Problem, ValidationFailed, type FieldErrors } from '@platform/service-kit/problem';
import { statementFields, StatementLine, type ReadLine, type StatementField } from './statement-line.ts';

/** A record of a statement, and the line in which it begins, from 1. */
interface FileRecord {
  line: number;
  text: string;
}

const maxRecordLength = 16_384;

export const malformed = (line: number, what: string): BadRequest =>
  new BadRequest('malformed_statement', `The statement cannot be read: line ${line} ${what}.`);

const tooLarge = (maxBytes: number): Problem =>
  new Problem({
    status: 413,
    code: 'statement_too_large',
    detail: `A statement may have at most ${maxBytes} bytes.`,
  });

const hasOddQuotes = (text: string): boolean => text.includes('"') && text.split('"').length % 2 === 0;

const withoutReturn = (text: string): string => (text.endsWith('\r') ? text.slice(0, -1) : text);

/**
 * Cuts text that arrives in pieces into records: lines that are not empty. In CSV, a line feed within quotes does not end
 * a record. Throws BadRequest `malformed_statement` for a record that is too long, or whose quote is not closed.
 */
const createRecordCutter = (isCsv: boolean) => {
  let rest = '';
  let line = 1;
  const cut = (piece: string): FileRecord[] => {
    rest += piece;
    const records: FileRecord[] = [];
    let start = 0;
    let lines = 0;
    let isQuoted = false;
    for (let from = 0, end; (end = rest.indexOf('\n', from)) !== -1; from = end + 1) {
      lines += 1;
      if (isCsv && hasOddQuotes(rest.slice(from, end))) isQuoted = !isQuoted;
      if (end - start > maxRecordLength) break;
      if (isQuoted) continue;
      const text = withoutReturn(rest.slice(start, end));
      if (text !== '') records.push({ line, text });
      line += lines;
      lines = 0;
      start = end + 1;
    }
    rest = rest.slice(start);
    if (rest.length > maxRecordLength) throw malformed(line, `is longer than ${maxRecordLength} characters`);
    return records;
  };
  return {
    cut,
    /** The last record, which needs no line feed. */
    end: (): FileRecord[] => {
      const records = cut('\n');
      if (rest !== '') throw malformed(line, 'has a quote that is not closed');
      return records;
    },
  };
};

/**
 * The records of a body in UTF-8, those of each piece together. Throws BadRequest `malformed_statement` and Problem
 * `statement_too_large`.
 */
export async function* readRecords(
  body: Readable,
  isCsv: boolean,
  maxBytes: number,
): AsyncGenerator<FileRecord[], void> {
  const cutter = createRecordCutter(isCsv);
  // It also removes a byte order mark.
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (piece?: Buffer): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch (error) {
      throw new BadRequest('malformed_statement', 'The statement is not in UTF-8.', error);
    }
  };
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield cutter.cut(decode(chunk));
  }
  yield cutter.cut(decode());
  yield cutter.end();
}

/** The values of a record of CSV (RFC 4180). Throws BadRequest `malformed_statement`. */
export const splitCsv = ({ line, text }: FileRecord, delimiter: string): string[] => {
  if (!text.includes('"')) return text.split(delimiter);
  const values: string[] = [];
  for (let start = 0; start <= text.length;) {
    let end = text.indexOf(delimiter, start);
    if (end === -1) end = text.length;
    let value = text.slice(start, end);
    if (value.startsWith('"')) {
      end = start + 1;
      // Two quotes stand for one.
      while ((end = text.indexOf('"', end) + 1) > 0 && text[end] === '"') end += 1;
      value = text.slice(start + 1, end - 1).replaceAll('""', '"');
      if (end === 0 || (end < text.length && text[end] !== delimiter))
        throw malformed(line, 'has text after a closing quote');
    } else if (value.includes('"')) throw malformed(line, 'has a quote within a value that is not quoted');
    values.push(value);
    start = end + 1;
  }
  return values;
};

export interface StatementFormat {
  type: 'text/csv' | 'application/x-ndjson';
  delimiter: string;
  /** The names of columns that differ from the names of the fields. */
  columns: Partial<Record<StatementField, string>>;
}

/** As the gateway. It bounds the number of lines, empty ones included, too. */
const maxStatementBytes = 2 ** 30;

/** A statement with mistakes is read on until there are this many, so that they can be corrected together. */
const maxErrors = 20;

/** Finds the value of a field in a record. */
type Reader = (record: FileRecord) => (field: StatementField) => unknown;

/**
 * The reader of CSV records. Throws ValidationFailed when the header lacks a column that is named, or needed, or has a
 * column of a field twice; it throws
 * BadRequest `malformed_statement` for a record with more or fewer values than the header.
 */
const csvReader = (header: readonly string[], { columns, delimiter }: StatementFormat): Reader => {
  const errors: FieldErrors = Object.create(null);
  const indexOf = new Map(
    statementFields.map((field) => {
      const name = columns[field] ?? field;
      const index = header.indexOf(name);
      const isNeeded =
        columns[field] !== undefined || !StatementLine.shape[field].safeParse(undefined).success;
      if (index === -1 && isNeeded) errors[name] = ['is not a column of the header'];
      if (index !== header.lastIndexOf(name)) errors[name] = ['is twice in the header'];
      return [field, index];
    }),
  );
  if (Object.keys(errors).length > 0) throw new ValidationFailed(errors);
  return (record) => {
    const values = splitCsv(record, delimiter);
    if (values.length !== header.length)
      throw malformed(record.line, `has ${values.length} values instead of ${header.length}`);
    return (field) => values[indexOf.get(field) ?? -1];
  };
};

/** The reader of JSON lines; it throws SyntaxError. Takes the names that an object has out of `unseen`. */
const jsonReader =
  (columns: StatementFormat['columns'], unseen: Set<string>): Reader =>
  ({ text }) => {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError();
    for (const name of unseen) if (Object.hasOwn(value, name)) unseen.delete(name);
    return (field) => (value as Record<string, unknown>)[columns[field] ?? field];
  };

/**
 * Reads the lines of a statement with bounded memory, no faster than they are taken. Throws ValidationFailed that names
 * the first mistakes by line and column, BadRequest `malformed_statement` or `empty_statement`, and Problem `statement_too_large`. Lines
 * before a mistake may have been yielded.
 */
export async function* readStatement(
  body: Readable,
  format: StatementFormat,
  maxBytes = maxStatementBytes,
): AsyncGenerator<ReadLine[], void> {
  const errors: FieldErrors = Object.create(null);
  const isCsv = format.type === 'text/csv';
  /** Columns that are named, and that no line had so far: most likely their names are misspelt. */
  const unseen = new Set(isCsv ? [] : Object.values(format.columns));
  let hasLines = false;
  let read = isCsv ? undefined : jsonReader(format.columns, unseen);
  for await (const records of readRecords(body, isCsv, maxBytes)) {
    const lines: ReadLine[] = [];
    for (const record of records) {
      if (read === undefined) {
        read = csvReader(splitCsv(record, format.delimiter), format);
        continue;
      }
      hasLines = true;
      const content = readLine(read, record, format.columns, errors);
      if (content !== undefined) lines.push({ line: record.line, content });
      if (Object.keys(errors).length >= maxErrors) throw new ValidationFailed(errors);
    }
    yield lines;
  }
  if (!hasLines) throw new BadRequest('empty_statement', 'The statement has no transaction.');
  if (Object.keys(errors).length === 0) for (const name of unseen) errors[name] = ['is in no line'];
  if (Object.keys(errors).length > 0) throw new ValidationFailed(errors);
}

/** Undefined, with the mistakes added to `errors`, when the line is not valid. */
const readLine = (
  read: Reader,
  record: FileRecord,
  columns: StatementFormat['columns'],
  errors: FieldErrors,
): StatementLine | undefined => {
  let valueOf: ReturnType<Reader>;
  try {
    valueOf = read(record);
  } catch (error) {
    if (error instanceof Problem) throw error;
    errors[`line ${record.line}`] = ['is not a JSON object'];
    return undefined;
  }
  const written: Partial<Record<StatementField, unknown>> = {};
  for (const field of statementFields) {
    const value = valueOf(field);
    if (value !== '' && value !== null && value !== undefined) written[field] = value;
  }
  const result = StatementLine.safeParse(written);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) {
    const field = path[0] as StatementField;
    errors[`line ${record.line}, ${columns[field] ?? field}`] = [message];
  }
  return undefined;
};
