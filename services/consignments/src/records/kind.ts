/** A table and the JSON fields of its records. */
export interface Kind {
  table: string;
  /** JSON fields in order: the columns in camelCase. Names that end in `At` are timestamps. */
  fields: readonly string[];
  /** Tables and their columns that may name a record, which then cannot be deleted. */
  usedBy?: readonly (readonly [table: string, ...columns: string[]])[];
}
