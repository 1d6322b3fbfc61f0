/** A list that pages are read from: a table, its order, and the columns it is filtered by. */
export interface DirectoryOptions {
  table: string;
  /** Columns that order the list, all `not null` and unique together. */
  key: readonly string[];
  /** Pages go from the highest key to the lowest. */
  descending?: boolean;
  /** Columns that the list is filtered by with `=`, and their SQL types. */
  filters?: Readonly<Record<string, string>>;
  /** Rows per bucket; 2,000 if absent. A page reads past at most one bucket. */
  bucket?: number;
}

/** Made by `defineDirectory`; names are safe to put into SQL. */
export interface Directory {
  name: string;
  table: string;
  buckets: string;
  changes: string;
  state: string;
  /** Name of the trigger function. */
  logChanges: string;
  key: readonly string[];
  descending: boolean;
  filters: readonly Filter[];
  bucket: number;
}

/** The whole list, or the rows that have one value in one column. */
export interface Filter {
  /** Value of `filter` in the table of buckets. */
  name: string;
  type: string;
  /** The column, and its value as text; both SQL. */
  column: string;
  text: string;
}

const checked = (name: string, form: RegExp): string => {
  if (!form.test(name))
    throw new Error(`a page directory cannot use the name ${name}: it would need quoting`);
  return name;
};

const identifier = (name: string): string => checked(name, /^[a-z_][a-z0-9_]{0,30}$/);
const sqlType = (name: string): string => checked(name, /^[a-z][a-z0-9_ (),]*$/);

/** The list without a filter. */
export const unfiltered: Filter = { name: '', type: 'text', column: `''::text`, text: `''::text` };

/** Checks the names and completes the options. Throws for a name that would need quoting. */
export const defineDirectory = (options: DirectoryOptions): Directory => {
  const { table, key, descending = false, filters = {}, bucket = 2000 } = options;
  const prefix = identifier(table);
  return {
    name: table,
    table: prefix,
    buckets: `${prefix}_directory_buckets`,
    changes: `${prefix}_directory_changes`,
    state: `${prefix}_directory_state`,
    logChanges: `${prefix}_directory_log`,
    key: key.map(identifier),
    descending,
    filters: Object.entries(filters).map(([column, type]) => ({
      name: identifier(column),
      type: sqlType(type),
      column,
      text: `${column}::text`,
    })),
    bucket,
  };
};

/** Finds a filter by its column. Throws if the directory does not have it. */
export const filterOf = ({ name, filters }: Directory, column: string): Filter => {
  const filter = filters.find((other) => other.column === column);
  if (filter === undefined) throw new Error(`the page directory of ${name} has no filter ${column}`);
  return filter;
};

/** `a.x, a.y` for the key columns. */
export const keyOf = ({ key }: Directory, alias: string): string =>
  key.map((column) => `${alias}.${column}`).join(', ');

/**
 * Changes that are not counted in the buckets yet: those of transactions that the last fold could not see.
 * Two index ranges, however many dead rows lie between them.
 */
export const pendingChanges = ({ changes, state }: Directory, columns: string, condition = ''): string =>
  [`xid >= (select folded_below from ${state})`, `xid = any (array(select unnest(running) from ${state}))`]
    .map((range) => `select ${columns} from ${changes} where ${range}${condition}`)
    .join(' union all ');
