/** Lines of nginx configuration. */
export type Lines = readonly string[];

/** A block and its content, indented. */
export const block = (head: string, ...content: (Lines | string)[]): string[] => [
  `${head} {`,
  ...content.flat().map((line) => `    ${line}`),
  '}',
];

/** A path as a double-quoted argument; the options have no path that would need escaping. */
export const quoted = (path: string): string => `"${path}"`;

/** Goes on with another location or a status (`=404`), after the limits of the location have been checked. */
export const tryNothing = (answer: string): string => `try_files /_none ${answer};`;
