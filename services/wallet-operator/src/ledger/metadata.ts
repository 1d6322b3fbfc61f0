const maxBytes = 4096;

/** Ends metadata that is longer than what is kept. */
const mark = '[…]';

/**
 * The metadata of a command as it is kept with the entry: its first 4 kB, then the mark. PostgreSQL stores no NUL and no
 * half of a character, so U+FFFD replaces them. Undefined when there is none.
 */
export const keptMetadata = (text: string | null | undefined): string | undefined => {
  if (!text) return undefined;
  const bytes = Buffer.from(text.replaceAll('\0', '\uFFFD'));
  // `stream` leaves out a character that the end cuts.
  return bytes.length <= maxBytes
    ? bytes.toString()
    : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, maxBytes), { stream: true }) +
        mark;
};

/** SQL: whether kept metadata was cut. Only then it is longer, since a cut character has four bytes and the mark five. */
export const isCut = (metadata: string): string => `coalesce(octet_length(${metadata}) > ${maxBytes}, false)`;
