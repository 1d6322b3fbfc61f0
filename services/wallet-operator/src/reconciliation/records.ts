import type { Readable } from 'node:stream';
import { BadRequest, Problem } from '@platform/service-kit/problem';

/** A record of a statement, and the line in which it begins, from 1. */
export interface FileRecord {
  line: number;
  text: string;
}

const maxRecordLength = 16_384;

export const malformed = (line: number, what: string): BadRequest =>
  new BadRequest('malformed_statement', `The statement cannot be read: line ${line} ${what}.`);

const tooLarge = (most: number): Problem =>
  new Problem({
    status: 413,
    code: 'statement_too_large',
    detail: `A statement may have ${most} bytes.`,
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
