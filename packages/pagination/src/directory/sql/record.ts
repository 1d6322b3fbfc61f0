import type { Directory } from '../declare.ts';
import { namesOf } from './names.ts';

/** Statements for the triggers that record every change of the list, a statement at a time. */
export const record = (directory: Directory): string[] => {
  const { list, buckets, shelves, changes, state, routine } = namesOf(directory);
  const { at, id, filters, watched } = directory;
  const columns = [...filters.map(({ column }) => column), at, id];
  const target = [...filters.map(({ column }) => column), 'at', 'id', 'sign', 'xid'].join(', ');
  // Never below `folded_to`, even where a dump was restored into a server whose transactions count from anew.
  const xid = `greatest(pg_current_xact_id(), (select folded_to from ${state}))`;
  const all = [...new Set([...columns, ...watched])].join(', ');
  const trigger = (event: string, tables: string) =>
    `create trigger ${directory.table}_directory_${event} after ${event} on ${list}
  ${tables}for each statement execute function ${routine('record')}();`;
  return [
    `create function ${routine('record')}() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into ${changes} (${target}) select ${columns.join(', ')}, 1, ${xid} from fresh;
  elsif tg_op = 'DELETE' then
    insert into ${changes} (${target}) select ${columns.join(', ')}, -1, ${xid} from stale;
  elsif tg_op = 'UPDATE' then
    -- A row that kept all of these cancels itself out.
    insert into ${changes} (${target}) select ${columns.join(', ')}, sum(sign), ${xid}
    from (select ${all}, 1 as sign from fresh union all select ${all}, -1 from stale) moved
    group by ${all} having sum(sign) <> 0;
  else
    truncate ${changes}, ${buckets}, ${shelves};
  end if;
  return null;
end $$;`,
    trigger('insert', 'referencing new table as fresh '),
    trigger('update', 'referencing old table as stale new table as fresh '),
    trigger('delete', 'referencing old table as stale '),
    trigger('truncate', ''),
  ];
};
