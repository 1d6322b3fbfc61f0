import type { Directory } from '../declare.ts';
import { lowest, namesOf, settings, type Narrowing } from './names.ts';

/** Counts the rows before a time: shelves, buckets, then along the index from the last key before it. */
export const olderOf = (directory: Directory, { filter, type, textOf, holds }: Narrowing): string => {
  const { list, buckets, shelves, changes, state, routine } = namesOf(directory);
  const key = `(item.${directory.at}, item.${directory.id})`;
  const ours = `filter = '${filter}' and value = ${textOf('wanted')}`;
  return `create function ${routine(`older_${filter}`)}(wanted ${type}, since timestamptz) returns bigint
language plpgsql stable ${settings} as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from ${shelves} where ${ours} and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from ${buckets} where ${ours} and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select ${lowest}) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from ${shelves}
      where ${ours} and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from ${buckets} where ${ours}
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from ${changes} change where xid >= (select folded_to from ${state})
      and ${holds('change', 'wanted')} and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from ${list} item where ${holds('item', 'wanted')}
      and ${key} >= (near.low_at, near.low_id) and item.${directory.at} < since);
end $$;`;
};
