import type { Directory, Filter } from '../declare.ts';

/** The names that the directory of a list has in the database, all beside its table. */
export const namesOf = ({ table }: Pick<Directory, 'table'>) => ({
  list: `public.${table}`,
  prefix: `${table}_directory`,
  buckets: `public.${table}_directory`,
  shelves: `public.${table}_directory_shelves`,
  changes: `public.${table}_directory_changes`,
  state: `public.${table}_directory_state`,
  routine: (name: string) => `public.${table}_directory_${name}`,
});

/** A list as it is narrowed by nothing, or by one filter column. */
export interface Narrowing {
  /** Value of `filter` in the bucket table, and the ending of routine names. */
  filter: string;
  /** SQL type of the value. */
  type: string;
  /** What a row is narrowed by, given the alias of the row: of `type`. */
  columnOf: (row: string) => string;
  /** Value in the bucket table for `wanted`, an SQL expression of `type`. */
  textOf: (wanted: string) => string;
  /** Whether a row is in the list narrowed to `wanted`. */
  holds: (row: string, wanted: string) => string;
}

/** Not narrowed: one value for all rows, which nobody asks for by name. */
const whole: Narrowing = {
  filter: 'all',
  type: 'text',
  columnOf: () => `''::text`,
  textOf: () => `''`,
  holds: () => 'true',
};

const by = ({ column, type }: Filter): Narrowing => ({
  filter: `by_${column}`,
  type,
  columnOf: (row) => `${row}.${column}`,
  textOf: (wanted) => `${wanted}::text`,
  holds: (row, wanted) => `${row}.${column} = ${wanted}`,
});

/** Name of the narrowing by a column; of the whole list without one. */
export const filterName = (column: string | undefined): string =>
  column === undefined ? whole.filter : `by_${column}`;

export const narrowings = (directory: Directory): Narrowing[] => [whole, ...directory.filters.map(by)];

/** Below every key there is: the first bucket of each value begins here. */
export const lowest = `'-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid`;
/** Above every key there is. */
export const highest = `'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`;

/** Plans that hold for any parameters, found once a connection; whatever the statistics say of tables that churn. */
export const settings = `set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off`;
