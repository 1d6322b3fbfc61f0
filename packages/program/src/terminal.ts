/**
 * Makes text of others safe to print, such as an id, a recording or the answer of a wallet: characters that control a terminal, or that reorder or hide
 * text, are written as escapes.
 */
export const printable = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

const printed = (text: string): string => `${text.split('\n').map(printable).join('\n')}\n`;

/** Prints lines on stdout; they may hold text of others. */
export const say = (text: string): void => void process.stdout.write(printed(text));

/** The same on stderr. */
export const complain = (text: string): void => void process.stderr.write(printed(text));
