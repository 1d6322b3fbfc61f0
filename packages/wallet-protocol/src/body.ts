import { isUtf8 } from 'node:buffer';

/** The JSON value of some bytes; undefined when they are not JSON in UTF-8. */
export const jsonOf = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
};

/** The requestId of a body, which every answer repeats; empty when there is none. */
export const requestIdOf = (value: unknown): string => {
  if (typeof value !== 'object' || value === null || !('requestId' in value)) return '';
  return typeof value.requestId === 'string' ? value.requestId : '';
};

/** In bytes; callbacks of game servers have less than 1,000. */
const maxParsed = 10_000;
const firstField = /^\s*\{\s*"requestId"\s*:\s*"([^"\\]*)"/;

/**
 * The requestId of a body that is refused unread. Refusing must stay cheap, so a body of more than 10 kB is not parsed: its
 * requestId is found when it is the first field.
 */
export const requestIdIn = (bytes: Buffer): string =>
  bytes.length <= maxParsed
    ? requestIdOf(jsonOf(bytes))
    : (firstField.exec(bytes.toString('utf8', 0, 1000))?.[1] ?? '');
