/** The last lines of a text. */
export const lastOf = (text: string, lines: number): string =>
  text.trimEnd().split('\n').slice(-lines).join('\n');
