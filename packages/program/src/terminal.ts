/**
 * Makes text from outside safe to print, such as the answer of a wallet: characters that control a terminal, or reorder or hide
 * text, are escaped.
 */
export const printable = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

const printableLines = (text: string): string => `${text.split('\n').map(printable).join('\n')}\n`;

/** Prints lines on stdout; they may contain text from outside. */
export const say = (text: string): void => void process.stdout.write(printableLines(text));

/** Prints lines on stderr; they may contain text from outside. */
export const complain = (text: string): void => void process.stderr.write(printableLines(text));
