/** Lines of nginx configuration; what is undefined or false is left out. */
export type Lines = string | undefined | false | readonly Lines[];

/** All lines, one after the other. */
export const linesOf = (...content: readonly Lines[]): string[] =>
  content.flatMap((part) => {
    if (typeof part === 'string') return [part];
    return part ? linesOf(...part) : [];
  });

/** A block and its content, indented. */
export const block = (head: string, ...content: readonly Lines[]): string[] => [
  `${head} {`,
  ...linesOf(...content).map((line) => `    ${line}`),
  '}',
];

/** A path as a double-quoted argument; the options have no path that would need escaping. */
export const quoted = (path: string): string => `"${path}"`;

/** Goes on with another location or a status (`=404`), after the limits of the location have been checked. */
export const tryNothing = (answer: string): string => `try_files /_none ${answer};`;
