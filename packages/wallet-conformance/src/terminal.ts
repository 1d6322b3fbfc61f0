/**
 * A text of a recording or of a wallet as it may be printed: what a terminal would obey, or what would reorder or hide a
 * line, is written as an escape.
 */
export const printable = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

const printed = (text: string): string => `${text.split('\n').map(printable).join('\n')}\n`;

/** Prints lines, whoever wrote what is in them. */
export const say = (text: string): void => void process.stdout.write(printed(text));

/** The same on stderr. */
export const complain = (text: string): void => void process.stderr.write(printed(text));
