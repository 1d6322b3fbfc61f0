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

/** Returned by `defineDirectory`. All names are safe to put into SQL. */
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
  /** SQL of the column, and of its value as text. */
  column: string;
  text: string;
}

const checkName = (name: string, form: RegExp): string => {
  if (!form.test(name))
    throw new Error(`a page directory cannot use the name ${name}: it would need quoting`);
  return name;
};

const identifier = (name: string): string => checkName(name, /^[a-z_][a-z0-9_]{0,30}$/);
const sqlType = (name: string): string => checkName(name, /^[a-z][a-z0-9_ (),]*$/);

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
  const filter = filters.find((candidate) => candidate.column === column);
  if (filter === undefined) throw new Error(`the page directory of ${name} has no filter ${column}`);
  return filter;
};

/** `a.x, a.y` for the key columns. */
export const keyOf = ({ key }: Directory, alias: string): string =>
  key.map((column) => `${alias}.${column}`).join(', ');

/**
 * Changes that are not counted in the buckets yet: those of transactions that the last fold could not see.
 * Reads two index ranges, whatever the number of dead rows between them.
 */
export const pendingChanges = ({ changes, state }: Directory, columns: string, condition = ''): string =>
  [`xid >= (select folded_below from ${state})`, `xid = any (array(select unnest(running) from ${state}))`]
    .map((range) => `select ${columns} from ${changes} where ${range}${condition}`)
    .join(' union all ');

/**
 * SQL that installs the directory of a table that has an index on the key, and one on each filter column
 * followed by the key. It counts nothing: call `rebuild` afterwards if the table has rows.
 */
export const installSql = (directory: Directory): string => {
  const { name, table, buckets, changes, state, logChanges, key, filters } = directory;
  const columns = [...key, ...filters.map(({ column }) => column)].join(', ');
  const trigger = (event: string, transition: string) =>
    `create trigger ${name}_directory_${event} after ${event} on ${table}
  ${transition}for each statement execute function ${logChanges}();`;
  return `-- A bucket holds the rows from its key to the key of the next bucket; \`n\` counts them, without the changes below.
create table ${buckets} as
  select ''::text as filter, ''::text as value, ${key.join(', ')}, 0 as n from ${table} with no data;
alter table ${buckets} add primary key (filter, value, ${key.join(', ')}), alter n set not null,
  set (fillfactor = 50);
create index on ${buckets} (${key.join(', ')});
-- One row for each row that entered (1) or left (-1) the list. Writers only insert here: none waits for another.
-- Without a primary key, which would cost every writer more; logical replication knows a row by all its columns.
create table ${changes} as
  select null::xid8 as xid, 0::smallint as sign, ${columns} from ${table} with no data;
create index on ${changes} (xid);
alter table ${changes} alter xid set not null, alter sign set not null, replica identity full,
  set (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
-- The snapshot of the last fold: it counted all changes except those of transactions from \`folded_below\` on and
-- those that were \`running\`. No counted row comes after the key. Sessions that change buckets lock this row.
create table ${state} as
  select true as one, '0'::xid8 as folded_below, '{}'::xid8[] as running, ${key.join(', ')} from ${table} with no data;
alter table ${state} add primary key (one), add check (one), alter folded_below set not null, alter running set not null;
insert into ${state} (one, folded_below, running) values (true, '0', '{}');
create function ${logChanges}() returns trigger language plpgsql as $$
declare
  -- An id below folded_below that was not running: a dump was restored into a cluster with lower ids.
  writer xid8 := (select case when pg_current_xact_id() = any (running) then pg_current_xact_id()
    else greatest(pg_current_xact_id(), folded_below) end from ${state});
begin
  if tg_op = 'INSERT' then
    insert into ${changes} (xid, sign, ${columns}) select writer, 1, ${columns} from new_rows;
  elsif tg_op = 'DELETE' then
    insert into ${changes} (xid, sign, ${columns}) select writer, -1, ${columns} from old_rows;
  elsif tg_op = 'UPDATE' then
    -- A row that kept its key and filters cancels out.
    insert into ${changes} (xid, sign, ${columns}) select writer, sum(sign), ${columns}
    from (select 1 as sign, ${columns} from new_rows union all select -1, ${columns} from old_rows) moved
    group by ${columns} having sum(sign) <> 0;
  else
    truncate ${buckets}, ${changes};
    update ${state} set ${key.map((name) => `${name} = null`).join(', ')};
  end if;
  return null;
end $$;
${trigger('insert', 'referencing new table as new_rows ')}
${trigger('update', 'referencing old table as old_rows new table as new_rows ')}
${trigger('delete', 'referencing old table as old_rows ')}
${trigger('truncate', '')}
`;
};

/** SQL that removes everything that `installSql` created. */
export const uninstallSql = ({ buckets, changes, state, logChanges }: Directory): string =>
  `drop function if exists ${logChanges}() cascade;
drop table if exists ${buckets}, ${changes}, ${state};
`;
