import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { collectIssues } from '@platform/service-kit/field-errors';
import type { FieldErrors } from '@platform/service-kit/problem';
import { ConsignmentInput } from '../consignments/schema.ts';
import type { Line } from './lines.ts';

/**
 * The result of parsing a line: a consignment to store, an error, or a blank line, which has no result. `digest` is the
 * same for equal consignments only.
 */
export type Reading<Input = ConsignmentInput> =
  | { line: number; input: Input; digest: string }
  | { line: number; blank: true }
  | Refusal;

export interface Refusal {
  line: number;
  /** Error code in snake_case. */
  error: string;
  /** Undefined if `errors` has the reason. */
  detail?: string;
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

/**
 * Maximum number of invalid fields in a result, and of bytes of their names: results are stored again with each batch of
 * their slice, so thousands of unknown fields must not make them large.
 */
const [maxFields, maxNameBytes] = [10, 40];

/** Recognizes a line that is sent again. 96 bits are enough: a client that forges a digest harms only its own import. */
const digestOf = (input: ConsignmentInput): string =>
  hash('sha256', JSON.stringify(input), 'base64url').slice(0, 16);

/** Validates one line like the body of `POST /v1/consignments`. */
const validateLine = ({ line, bytes }: Line, maxBytes: number): Reading => {
  if (bytes === undefined) {
    return { line, error: 'line_too_long', detail: `The line has more than ${maxBytes} bytes.` };
  }
  const parsed = parse(bytes);
  if (parsed === undefined) return notJson(line);
  const result = ConsignmentInput.safeParse(parsed.value);
  if (result.success) return { line, input: result.data, digest: digestOf(result.data) };
  const allErrors: FieldErrors = Object.create(null);
  collectIssues(allErrors, result.error.issues, 'line');
  const errors: FieldErrors = Object.create(null);
  for (const [name, messages] of Object.entries(allErrors).slice(0, maxFields)) {
    const shortName = Buffer.from(name)
      .subarray(0, maxNameBytes)
      .toString()
      .replace(/\uFFFD$/, '');
    errors[shortName] = messages;
  }
  return { line, error: 'validation_failed', errors };
};

const isBlank = ({ bytes }: Line): boolean =>
  bytes?.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09) === true;

/** Validates all lines. */
export const validateLines = (lines: readonly Line[], maxBytes: number): Reading[] =>
  lines.map((line) => (isBlank(line) ? { line: line.line, blank: true } : validateLine(line, maxBytes)));
