import type { Readable } from 'node:stream';
import { BadRequest, Problem, ValidationFailed, type FieldErrors } from '@platform/service-kit/problem';
import { statementFields, StatementLine, type ReadLine, type StatementField } from './statement-line.ts';

/** A line of a statement with its number, from 1. A CSV record may have several lines; the number is that of the first. */
interface FileRecord {
  line: number;
  text: string;
}

const maxRecordLength = 16_384;

const malformedLine = (line: number, fault: string): BadRequest =>
  new BadRequest('malformed_statement', `The statement cannot be read: line ${line} ${fault}.`);

const hasOddQuotes = (text: string): boolean => text.includes('"') && text.split('"').length % 2 === 0;

const withoutReturn = (text: string): string => (text.endsWith('\r') ? text.slice(0, -1) : text);

/**
 * Splits text that arrives in pieces into records; empty lines are left out. In CSV, a line feed within quotes does not end
 * a record. Throws BadRequest `malformed_statement` for a record that is too long, or whose quote is not closed.
 */
const createRecordSplitter = (isCsv: boolean) => {
  let unfinished = '';
  let line = 1;
  const add = (piece: string): FileRecord[] => {
    unfinished += piece;
    const records: FileRecord[] = [];
    let recordStart = 0;
    let linesOfRecord = 0;
    let isQuoted = false;
    for (let lineStart = 0, end; (end = unfinished.indexOf('\n', lineStart)) !== -1; lineStart = end + 1) {
      linesOfRecord += 1;
      if (isCsv && hasOddQuotes(unfinished.slice(lineStart, end))) isQuoted = !isQuoted;
      if (end - recordStart > maxRecordLength) break;
      if (isQuoted) continue;
      const text = withoutReturn(unfinished.slice(recordStart, end));
      if (text !== '') records.push({ line, text });
      line += linesOfRecord;
      linesOfRecord = 0;
      recordStart = end + 1;
    }
    unfinished = unfinished.slice(recordStart);
    if (unfinished.length > maxRecordLength)
      throw malformedLine(line, `is longer than ${maxRecordLength} characters`);
    return records;
  };
  return {
    /** Returns the records that end in this piece. */
    add,
    /** Returns the last record, which may lack the line feed. */
    end: (): FileRecord[] => {
      const records = add('\n');
      if (unfinished !== '') throw malformedLine(line, 'has a quote that is not closed');
      return records;
    },
  };
};

/**
 * Yields the records of a body in UTF-8, one array for each piece of the body. Throws BadRequest `malformed_statement` and
 * Problem `statement_too_large`.
 */
export async function* readRecords(
  body: Readable,
  isCsv: boolean,
  maxBytes: number,
): AsyncGenerator<FileRecord[], void> {
  const splitter = createRecordSplitter(isCsv);
  // The decoder also removes a byte order mark.
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
    if (bytes > maxBytes) {
      const detail = `A statement may have at most ${maxBytes} bytes.`;
      throw new Problem({ status: 413, code: 'statement_too_large', detail });
    }
    yield splitter.add(decode(chunk));
  }
  yield splitter.add(decode());
  yield splitter.end();
}

/** Splits a CSV record (RFC 4180) into its values. Throws BadRequest `malformed_statement`. */
export const splitCsv = ({ line, text }: FileRecord, delimiter: string): string[] => {
  if (!text.includes('"')) return text.split(delimiter);
  const values: string[] = [];
  for (let start = 0; start <= text.length;) {
    let end = text.indexOf(delimiter, start);
    if (end === -1) end = text.length;
    let value = text.slice(start, end);
    if (value.startsWith('"')) {
      end = start + 1;
      // Two quotes are an escaped quote.
      while ((end = text.indexOf('"', end) + 1) > 0 && text[end] === '"') end += 1;
      value = text.slice(start + 1, end - 1).replaceAll('""', '"');
      if (end === 0 || (end < text.length && text[end] !== delimiter))
        throw malformedLine(line, 'has text after a closing quote');
    } else if (value.includes('"'))
      throw malformedLine(line, 'has a quote within a value that is not quoted');
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

/** The gateway has the same limit. It also limits the number of empty lines. */
const maxStatementBytes = 2 ** 30;

/** Reading goes on until this many mistakes are found, so that people can correct them together. */
const maxErrors = 20;

type WrittenFields = Partial<Record<StatementField, unknown>>;

/** Returns the fields of a record that have a value. */
type RecordReader = (record: FileRecord) => WrittenFields;

const withoutEmpty = (valueOf: (field: StatementField) => unknown): WrittenFields => {
  const written: WrittenFields = {};
  for (const field of statementFields) {
    const value = valueOf(field);
    if (value !== '' && value !== null && value !== undefined) written[field] = value;
  }
  return written;
};

/**
 * Creates the reader of CSV records. Throws ValidationFailed when the header lacks a column that is required or in `columns`,
 * or has the column of a field twice. The reader throws BadRequest `malformed_statement` for a record with more or fewer
 * values than the header.
 */
const csvReader = (header: readonly string[], { columns, delimiter }: StatementFormat): RecordReader => {
  const errors: FieldErrors = Object.create(null);
  const indexOf = new Map(
    statementFields.map((field) => {
      const name = columns[field] ?? field;
      const index = header.indexOf(name);
      const isRequired =
        columns[field] !== undefined || !StatementLine.shape[field].safeParse(undefined).success;
      if (index === -1 && isRequired) errors[name] = ['is not a column of the header'];
      if (index !== header.lastIndexOf(name)) errors[name] = ['is twice in the header'];
      return [field, index];
    }),
  );
  if (Object.keys(errors).length > 0) throw new ValidationFailed(errors);
  return (record) => {
    const values = splitCsv(record, delimiter);
    if (values.length !== header.length)
      throw malformedLine(record.line, `has ${values.length} values instead of ${header.length}`);
    return withoutEmpty((field) => values[indexOf.get(field) ?? -1]);
  };
};

/** Creates the reader of JSON lines. The reader throws SyntaxError, and removes the names of each object from `unseen`. */
const jsonReader =
  (columns: StatementFormat['columns'], unseen: Set<string>): RecordReader =>
  ({ text }) => {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError();
    for (const name of unseen) if (Object.hasOwn(value, name)) unseen.delete(name);
    return withoutEmpty((field) => (value as Record<string, unknown>)[columns[field] ?? field]);
  };

/**
 * Reads the lines of a statement with bounded memory, no faster than the consumer takes them. Throws ValidationFailed that
 * names the first mistakes by line and column, BadRequest `malformed_statement` or `empty_statement`, and Problem
 * `statement_too_large`. Lines before a mistake may have been yielded.
 */
export async function* readStatement(
  body: Readable,
  format: StatementFormat,
  maxBytes = maxStatementBytes,
): AsyncGenerator<ReadLine[], void> {
  const errors: FieldErrors = Object.create(null);
  const isCsv = format.type === 'text/csv';
  /** Names in `columns` that no JSON object has had so far; most likely they are misspelt. */
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

/** Reads a record. If it is not valid, adds its mistakes to `errors` and returns undefined. */
const readLine = (
  read: RecordReader,
  record: FileRecord,
  columns: StatementFormat['columns'],
  errors: FieldErrors,
): StatementLine | undefined => {
  let written: WrittenFields;
  try {
    written = read(record);
  } catch (error) {
    if (error instanceof Problem) throw error;
    errors[`line ${record.line}`] = ['is not a JSON object'];
    return undefined;
  }
  const result = StatementLine.safeParse(written);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) {
    const field = path[0] as StatementField;
    errors[`line ${record.line}, ${columns[field] ?? field}`] = [message];
  }
  return undefined;
};
