import { isUtf8 } from 'node:buffer';

/** Parses a request body; undefined when it is not JSON in UTF-8. */
export const jsonOf = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
};

/** The requestId of a parsed body, which every answer repeats; empty when there is none. */
export const requestIdOf = (value: unknown): string => {
  if (typeof value !== 'object' || value === null || !('requestId' in value)) return '';
  return typeof value.requestId === 'string' ? value.requestId : '';
};

/** Maximum size of a body that is parsed only to find the requestId; real callbacks have less than 1,000 bytes. */
const maxParsedBytes = 10_000;
const firstField = /^\s*\{\s*"requestId"\s*:\s*"([^"\\]*)"/;

/**
 * The requestId of a body that is refused before it is validated. Refusing must stay cheap, so a body of more than 10 kB is
 * not parsed: its requestId is found only when it is the first field.
 */
export const requestIdIn = (bytes: Buffer): string =>
  bytes.length <= maxParsedBytes
    ? requestIdOf(jsonOf(bytes))
    : (firstField.exec(bytes.toString('utf8', 0, 1000))?.[1] ?? '');
