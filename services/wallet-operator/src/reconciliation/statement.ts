import { pipeline, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { CsvError, parse, type Options } from 'csv-parse';
import { BadRequest, Problem, ValidationFailed, type FieldErrors } from '@platform/service-kit/problem';
import { StatementLine, statementFields, type StatementField } from './schema.ts';

/** A line of the statement and its number, from 1. */
export interface ReadLine {
  line: number;
  content: StatementLine;
}

export interface StatementFormat {
  type: 'text/csv' | 'application/x-ndjson';
  delimiter: string;
  /** The names of columns that differ from the names of the fields. */
  columns: Partial<Record<StatementField, string>>;
}

/** Bytes that are parsed at once, some 0.5 ms: other requests are handled in between. */
const pieceBytes = 16_384;
const maxLineBytes = 16_384;
/** As the gateway. It bounds the number of lines, empty ones included, too. */
const maxStatementBytes = 2 ** 30;

/** A statement with mistakes is read on until there are this many, so that they can be corrected together. */
const maxErrors = 20;

const tooLarge = (most: number): Problem =>
  new Problem({
    status: 413,
    code: 'statement_too_large',
    detail: `A statement may have ${most} bytes.`,
  });

async function* piecesOf(body: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // A body that is left open can still be answered.
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const piece = chunk.subarray(at, at + pieceBytes);
      decoder.decode(piece, { stream: true });
      yield piece;
      await turn();
    }
  }
  decoder.decode();
}

/** Finds the value of a field in a record. */
type Reader = (record: readonly string[]) => (field: StatementField) => unknown;

/** The reader of CSV records. Throws ValidationFailed when the header lacks a column that is named, or needed. */
const csvReader = (header: readonly string[], columns: StatementFormat['columns']): Reader => {
  const errors: FieldErrors = Object.create(null);
  const indexOf = new Map(
    statementFields.map((field) => {
      const name = columns[field] ?? field;
      const index = header.indexOf(name);
      const isNeeded =
        columns[field] !== undefined || !StatementLine.shape[field].safeParse(undefined).success;
      if (index === -1 && isNeeded) errors[name] = ['is not a column of the header'];
      return [field, index];
    }),
  );
  if (Object.keys(errors).length > 0) throw new ValidationFailed(errors);
  return (record) => (field) => record[indexOf.get(field) ?? -1];
};

/** Throws SyntaxError. Takes the names that an object has out of `unseen`. */
const jsonReader =
  (columns: StatementFormat['columns'], unseen: Set<string>): Reader =>
  ([json = '', ...more]) => {
    const value: unknown = more.length === 0 ? JSON.parse(json) : undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError();
    for (const name of unseen) if (Object.hasOwn(value, name)) unseen.delete(name);
    return (field) => (value as Record<string, unknown>)[columns[field] ?? field];
  };

const optionsOf = ({ type, delimiter }: StatementFormat): Options => ({
  bom: true,
  skip_empty_lines: true,
  max_record_size: maxLineBytes,
  record_delimiter: ['\r\n', '\n'],
  // A line of JSON is one column: no text of JSON contains NUL.
  ...(type === 'text/csv' ? { delimiter } : { delimiter: '\0', quote: null, relax_column_count: true }),
  // Its line, as one more column.
  on_record: (record: string[], { lines }) => [...record, String(lines)],
});

const unreadable = (error: unknown): unknown => {
  if (error instanceof CsvError)
    return new BadRequest('malformed_statement', `The statement cannot be read: ${error.message}.`, error);
  if (error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return new BadRequest('malformed_statement', 'The statement is not in UTF-8.', error);
  return error;
};

/**
 * Reads the lines of a statement with bounded memory, no faster than they are taken. Throws ValidationFailed that names
 * the first mistakes by line and column, BadRequest `malformed_statement`, and Problem `statement_too_large`. Lines
 * before a mistake may have been yielded.
 */
export async function* readStatement(
  body: Readable,
  format: StatementFormat,
  maxBytes = maxStatementBytes,
): AsyncGenerator<ReadLine, void> {
  const parser = parse(optionsOf(format));
  pipeline(Readable.from(piecesOf(body, maxBytes), { objectMode: true }), parser, () => undefined);
  const errors: FieldErrors = Object.create(null);
  const isJson = format.type === 'application/x-ndjson';
  /** Columns that are named, and that no line had so far: most likely their names are misspelt. */
  const unseen = new Set(isJson ? Object.values(format.columns) : []);
  let hasLines = false;
  let read = isJson ? jsonReader(format.columns, unseen) : undefined;
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      const line = Number(record.pop());
      if (read === undefined) {
        read = csvReader(record, format.columns);
        continue;
      }
      hasLines = true;
      const content = readLine(read, record, line, format.columns, errors);
      if (content !== undefined) yield { line, content };
      if (Object.keys(errors).length >= maxErrors) break;
    }
  } catch (error) {
    throw unreadable(error);
  }
  if (hasLines && Object.keys(errors).length === 0)
    for (const name of unseen) errors[name] = ['is in no line'];
  if (Object.keys(errors).length > 0) throw new ValidationFailed(errors);
}

/** Undefined, with the mistakes added to `errors`, when the line is not valid. */
const readLine = (
  read: Reader,
  record: readonly string[],
  line: number,
  columns: StatementFormat['columns'],
  errors: FieldErrors,
): StatementLine | undefined => {
  let valueOf: ReturnType<Reader>;
  try {
    valueOf = read(record);
  } catch {
    errors[`line ${line}`] = ['is not a JSON object'];
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
    errors[`line ${line}, ${columns[field] ?? field}`] = [message];
  }
  return undefined;
};

export const tooManyLines = (most: number): Problem =>
  new Problem({ status: 413, code: 'too_many_lines', detail: `A statement may have ${most} lines.` });
