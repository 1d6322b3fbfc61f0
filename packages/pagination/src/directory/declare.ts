import { getTableName, type Column } from 'drizzle-orm';

export interface DirectoryDeclaration {
  /** First half of the list's order: a `timestamptz(3) not null` column. */
  at: Column;
  /** Second half, which makes the order total: the table's `uuid` primary key. */
  id: Column;
  /** Pages are given from the newest row to the oldest. */
  newestFirst?: boolean;
  /** Columns the list is filtered by with `=`, the most selective one first. */
  filters?: readonly Column[];
  /** Other columns that a cached count may depend on, such as the text that is searched. */
  watched?: readonly Column[];
  /** Columns the indexes carry along, so that two filters together are answered from one index. */
  carried?: readonly Column[];
  /** Rows between two boundary keys, about; 500 unless said otherwise. */
  bucket?: number;
  /** Buckets added up as one, about; 32 unless said otherwise. */
  shelf?: number;
}

export interface Filter {
  /** Column name in the database. */
  column: string;
  /** SQL type of the column. */
  type: string;
}

/** What the SQL is written from and what a reader needs; made by `directory()`. */
export interface Directory {
  table: string;
  at: string;
  id: string;
  newestFirst: boolean;
  filters: readonly Filter[];
  watched: readonly string[];
  carried: readonly string[];
  bucket: number;
  shelf: number;
}

const plainName = (name: string): string => {
  if (!/^[a-z_][a-z0-9_]{0,30}$/.test(name)) {
    throw new Error(`a directory can't be named after ${name}: up to 31 lower-case letters, digits and _`);
  }
  return name;
};

/** Half of it is stepped over for a page, on average a quarter; a million rows have 2,000 buckets. */
const defaultBucket = 500;
const defaultShelf = 32;

/**
 * Declares the directory of a list, next to its table: which order, which filters. Its SQL
 * (`directorySql`) goes into a migration; `readPage` and `readSlice` read through it.
 */
export const directory = (declared: DirectoryDeclaration): Directory => {
  const names = (columns: readonly Column[] = []) => columns.map(({ name }) => plainName(name));
  return {
    table: plainName(getTableName(declared.at.table)),
    at: plainName(declared.at.name),
    id: plainName(declared.id.name),
    newestFirst: declared.newestFirst ?? false,
    filters: (declared.filters ?? []).map((column) => ({
      column: plainName(column.name),
      type: column.getSQLType(),
    })),
    watched: names(declared.watched),
    carried: names(declared.carried),
    bucket: declared.bucket ?? defaultBucket,
    shelf: declared.shelf ?? defaultShelf,
  };
};
