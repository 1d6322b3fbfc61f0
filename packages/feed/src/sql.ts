import type { SchemaPart } from '@platform/service-kit/migrate';

/** A list whose changes are recorded. */
export interface FeedTable {
  /** Name of the list, as in its path. */
  list: string;
  /** Its table. Default: the name of the list. */
  table?: string;
  /** The columns that identify a record. The record id is their values joined by `/`. Default: `id`. */
  key?: readonly string[];
  /** The column with the owner, by which changes are filtered. Default: none. */
  owner?: string;
}

const identifier = (name: string): string => {
  if (!/^[a-z_][a-z0-9_]{0,30}$/.test(name))
    throw new Error(`a feed cannot use the name ${name}: it would need quoting`);
  return name;
};

const logSql = `-- Changes that were written and not yet moved to feed_log. Only the mover reads and deletes them.
create table feed_pending (
  id bigint generated always as identity primary key,
  xid xid8 not null default pg_current_xact_id(),
  list text not null,
  record text not null,
  owner text,
  action text not null
) with (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
create index feed_pending_by_transaction on feed_pending (xid, id);
-- The changes in order. Rows that were moved together have the same random stamp, which a cursor must match.
create table feed_log (
  position bigint primary key,
  stamp bigint not null,
  list text not null,
  record text not null,
  owner text,
  action text not null,
  changed_at timestamptz not null
);
create index feed_log_by_age on feed_log using brin (changed_at);
-- The last position of the log, which is kept when the log is pruned. A mover locks this row.
create table feed_state (
  one boolean primary key default true check (one),
  epoch uuid not null default gen_random_uuid(),
  position bigint not null,
  stamp bigint not null,
  -- All rows of feed_pending up to this id were moved, except those of the transactions in \`open\`.
  moved_to bigint not null default 0,
  open xid8[] not null default '{}'
);
insert into feed_state (position, stamp) values (0, 0);
insert into feed_log (position, stamp, list, record, action, changed_at) values (0, 0, '', '', '', now());
create function feed_refuse_truncate() returns trigger language plpgsql as $$
begin
  raise exception 'the change feed would miss a TRUNCATE of %: delete the rows', tg_table_name;
end $$;
`;

const tableSql = ({ list, table = list, key = ['id'], owner: column }: FeedTable): string => {
  const name = identifier(table);
  const id = (row: string) => key.map((part) => `${row}.${identifier(part)}`).join(` || '/' || `);
  const owner = (row: string) => (column === undefined ? 'null::text' : `${row}.${identifier(column)}::text`);
  const changes = (action: string, row: string) =>
    `insert into feed_pending (list, record, owner, action)
      select '${list}', ${id(row)}, ${owner(row)}, '${action}' from ${row};`;
  // Compared byte by byte, because json has no equality.
  const changed = `from old_rows join new_rows using (${key.join(', ')}) where old_rows.* *<> new_rows.*`;
  const updates =
    column === undefined || key.includes(column)
      ? `insert into feed_pending (list, record, owner, action)
      select '${list}', ${id('new_rows')}, ${owner('new_rows')}, 'updated' ${changed};`
      : `with changed as (
        select ${id('new_rows')} as record, ${owner('old_rows')} as before, ${owner('new_rows')} as after
        ${changed})
    insert into feed_pending (list, record, owner, action)
      select '${list}', record, owner, action from (
        select 1 as step, record, before as owner, 'deleted' as action from changed where before is distinct from after
        union all
        select 2, record, after, case when before is distinct from after then 'created' else 'updated' end from changed
      ) changes order by step;`;
  const trigger = (event: string, transition: string) =>
    `create trigger ${name}_feed_${event} after ${event} on ${name}
  ${transition} for each statement execute function ${name}_feed();`;
  return `create function ${name}_feed() returns trigger language plpgsql
  -- Plans are cached: a plan for a single row would compare each old row of a batch with each new row.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the change ids of one record increase in commit order.
  if tg_op = 'INSERT' then
    ${changes('created', 'new_rows')}
  elsif tg_op = 'DELETE' then
    ${changes('deleted', 'old_rows')}
  else
    ${updates}
  end if;
  return null;
end $$;
${trigger('insert', 'referencing new table as new_rows')}
${trigger('update', 'referencing old table as old_rows new table as new_rows')}
${trigger('delete', 'referencing old table as old_rows')}
create trigger ${name}_feed_truncate before truncate on ${name}
  for each statement execute function feed_refuse_truncate();
`;
};

/** An index for feeds with very many owners of which each reader sees few. */
export const byOwner: SchemaPart = {
  name: 'feed by owner',
  sql: 'create index feed_log_by_owner on feed_log (owner, position);',
};

/**
 * The database objects for the feed of these lists: the log, and for each list the triggers that record changes in their
 * transaction. Existing records are not recorded; readers get them from the export.
 */
export const feedParts = (tables: readonly FeedTable[]): SchemaPart[] => [
  { name: 'feed', sql: logSql },
  ...tables.map((table) => ({ name: `feed of ${table.list}`, sql: tableSql(table) })),
];
