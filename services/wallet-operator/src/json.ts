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
