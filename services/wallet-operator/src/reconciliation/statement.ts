import type { Readable } from 'node:stream';
import { BadRequest, Problem, ValidationFailed, type FieldErrors } from '@platform/service-kit/problem';
import { malformed, readRecords, splitCsv, type FileRecord } from './records.ts';
import { StatementLine, statementFields, type ReadLine, type StatementField } from './statement-line.ts';

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
