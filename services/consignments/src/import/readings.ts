import { isUtf8 } from 'node:buffer';
import { collectIssues } from '@platform/service-kit/field-errors';
import type { FieldErrors } from '@platform/service-kit/problem';
import { ConsignmentInput } from '../consignments/schema.ts';
import type { Line } from './lines.ts';

/** What became of a line: a consignment to be stored, or why not. */
export type Reading = { line: number; input: ConsignmentInput } | Refusal;

export interface Refusal {
  line: number;
  /** Stable snake_case name. */
  error: string;
  detail: string;
  errors?: FieldErrors;
}

const notJson = (line: number): Refusal => ({
  line,
  error: 'malformed_json',
  detail: 'The line is not valid JSON in UTF-8.',
});

const parse = (bytes: Buffer): { value: unknown } | undefined => {
  if (!isUtf8(bytes)) return undefined;
  try {
    return { value: JSON.parse(bytes.toString()) };
  } catch {
    return undefined;
  }
};

/** Reads one line as `POST /v1/consignments` reads its body. */
const read = ({ line, bytes }: Line, maxBytes: number): Reading => {
  if (bytes === undefined) {
    return { line, error: 'line_too_long', detail: `The line has more than ${maxBytes} bytes.` };
  }
  const parsed = parse(bytes);
  if (parsed === undefined) return notJson(line);
  const result = ConsignmentInput.safeParse(parsed.value);
  if (result.success) return { line, input: result.data };
  const errors: FieldErrors = Object.create(null);
  collectIssues(errors, result.error.issues, 'line');
  const detail = Object.entries(errors).map(([name, messages]) => `${name}: ${messages.join(', ')}`);
  return { line, error: 'validation_failed', detail: detail.join('; '), errors };
};

const isBlank = ({ bytes }: Line): boolean =>
  bytes?.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09) === true;

/** Reads all lines but blank ones, which are counted and passed over. */
export const readLines = (lines: readonly Line[], maxBytes: number): Reading[] =>
  lines.filter((line) => !isBlank(line)).map((line) => read(line, maxBytes));
