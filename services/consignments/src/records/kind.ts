/** How the records of one table look from outside. */
export interface Kind {
  table: string;
  /** Fields of the wire, in order: columns in camelCase. Those that end in `At` are instants. */
  fields: readonly string[];
}
