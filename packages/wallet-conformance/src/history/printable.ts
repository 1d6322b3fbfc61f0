/**
 * A text of a recording as it may be printed: what a terminal would obey, or what would reorder or hide a line, is
 * written as an escape.
 */
export const printable = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
