/** Lines of nginx configuration; undefined and false are omitted. */
export type Lines = string | undefined | false | readonly Lines[];

/** Flattens nested lines into one list. */
export const linesOf = (...content: readonly Lines[]): string[] =>
  content.flatMap((lines) => {
    if (typeof lines === 'string') return [lines];
    return lines ? linesOf(...lines) : [];
  });

/** A block with indented content. */
export const block = (head: string, ...content: readonly Lines[]): string[] => [
  `${head} {`,
  ...linesOf(...content).map((line) => `    ${line}`),
  '}',
];

/** A path as a double-quoted argument. It needs no escaping, because the options reject such paths. */
export const quoted = (path: string): string => `"${path}"`;

/**
 * Continues with a named location or a status (`=404`). nginx checks the limits of a location before `try_files`, but after
 * `return` and `rewrite`.
 */
export const continueWith = (target: string): string => `try_files /_none ${target};`;
