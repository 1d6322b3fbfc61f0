const maxBytes = 4096;

/** Appended to truncated metadata. */
const mark = '[…]';

/**
 * The metadata of a command as stored with the entry: its first 4 kB, then the mark. U+FFFD replaces NUL and unpaired
 * surrogates, which PostgreSQL cannot store. Undefined when there is none.
 */
export const keptMetadata = (text: string | null | undefined): string | undefined => {
  if (!text) return undefined;
  const bytes = Buffer.from(text.replaceAll('\0', '\uFFFD'));
  if (bytes.length <= maxBytes) return bytes.toString();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  // `stream` leaves out a character that is cut at the end.
  return decoder.decode(bytes.subarray(0, maxBytes), { stream: true }) + mark;
};

/** SQL: whether stored metadata was truncated. Only then it is longer: truncating removes at most 3 bytes, the mark has 5. */
export const isCut = (metadata: string): string => `coalesce(octet_length(${metadata}) > ${maxBytes}, false)`;
