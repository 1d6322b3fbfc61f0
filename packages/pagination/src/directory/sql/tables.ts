import type { Directory } from '../declare.ts';
import { namesOf, narrowings } from './names.ts';

/** Removes what an earlier version of this SQL made, whatever filters it had. */
const drop = ({ prefix, buckets, shelves, changes, state }: ReturnType<typeof namesOf>): string[] => [
  `do $$ declare routine regprocedure; begin
  for routine in select oid from pg_proc
    where pronamespace = 'public'::regnamespace and starts_with(proname, '${prefix}_')
  loop execute format('drop function %s cascade', routine); end loop;
end $$;`,
  `drop table if exists ${buckets}, ${shelves}, ${changes}, ${state};`,
];

/** Statements that create the three tables of a directory and the indexes its reading depends on. */
export const tables = (directory: Directory): string[] => {
  const names = namesOf(directory);
  const { list, prefix, buckets, shelves, changes, state } = names;
  const { table, at, id, filters, carried } = directory;
  const columns = [...filters.map(({ column }) => column), `${at} as at`, `${id} as id`];
  const index = (filter: string, ...key: string[]) => {
    const rest = carried.filter((column) => !key.includes(column));
    const include = rest.length > 0 ? ` include (${rest.join(', ')})` : '';
    const name = `${table}_order_${filter}`;
    return `drop index if exists public.${name};
create index ${name} on ${list} (${key.join(', ')})${include};`;
  };
  return [
    ...drop(names),
    ...narrowings(directory).map(({ filter }, place) => {
      const column = filters[place - 1]?.column;
      return index(filter, ...(column === undefined ? [] : [column]), at, id);
    }),
    `-- A bucket holds the rows of one filter value from its key up to the next bucket's key. \`n\` counts them
-- but for the changes not yet folded in.
create table ${buckets} (
  filter text not null,
  value text not null,
  low_at timestamptz not null,
  low_id uuid not null,
  n integer not null,
  primary key (filter, value, low_at, low_id)
) with (fillfactor = 50);`,
    `-- A shelf holds some neighbouring buckets: adding up goes over shelves first, then over the buckets of one.
-- \`mark\` is the exclusive or of the marks of all changes ever folded in.
create table ${shelves} (
  filter text not null,
  value text not null,
  low_at timestamptz not null,
  low_id uuid not null,
  n integer not null,
  mark bigint not null,
  primary key (filter, value, low_at, low_id)
) with (fillfactor = 50);`,
    `-- One row for every row that came to (+1) or left (-1) its place in the list. Writers only ever add here, so
-- none waits for another. It sees the same commits and roll-backs as the list itself: that makes counts exact.
create table ${changes} as select ${columns.join(', ')} from ${list} with no data;`,
    `alter table ${changes}
  add sign smallint not null,
  add mark bigint not null default random(-9223372036854775808, 9223372036854775807),
  add xid xid8 not null;`,
    `create index ${prefix}_changes_xid on ${changes} (xid);`,
    `alter table ${changes} set (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_cost_delay = 0);`,
    `-- Every change with a lower transaction id than \`folded_to\` has been folded in. Reading from there on steps
-- over none of the dead rows that folding leaves until they are vacuumed. Locked by whoever changes buckets.
create table ${state} (folded_to xid8 not null);`,
    `insert into ${state} values ('0');`,
  ];
};
