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
