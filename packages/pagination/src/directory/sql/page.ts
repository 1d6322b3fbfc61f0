import type { Directory } from '../declare.ts';
import { highest, lowest, namesOf, narrowings, type Narrowing } from './names.ts';

/** Plans that hold for any parameters, found once a connection; whatever the statistics say of tables that churn. */
const settings = `set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off`;

const pageOf = (directory: Directory, { filter, type, textOf, holds }: Narrowing): string => {
  const { list, buckets, shelves, changes, state, routine } = namesOf(directory);
  const { at, id, newestFirst } = directory;
  const key = `item.${at}, item.${id}`;
  const ours = `filter = '${filter}' and value = ${textOf('wanted')}`;
  const changesOf = `${changes} change where xid >= (select folded_to from ${state}) and ${holds('change', 'wanted')}`;
  const itemsOf = `${list} item where ${holds('item', 'wanted')}`;
  const pending = (upTo: string) =>
    `coalesce((select sum(sign) from ${changesOf} and (change.at, change.id) < (${upTo})), 0)`;
  return `create function ${routine(`page_${filter}`)}(wanted ${type}, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language plpgsql stable ${settings} as $$
declare
  counted bigint;
  older bigint := 0;
  first bigint;
  past bigint;
  shelf_at timestamptz;
  shelf_id uuid;
  shelf_below bigint;
  shelf_past bigint;
  high_at timestamptz;
  high_id uuid;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  select coalesce(sum(n), 0) into counted from ${shelves} where ${ours};
  select counted + coalesce(sum(sign), 0) into total from ${changesOf};
  if since is not null then
    select low_at, low_id into shelf_at, shelf_id from ${shelves} where ${ours} and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from ${buckets} where ${ours} and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select ${lowest}) lowest;
    end if;
    older := coalesce((select sum(n) from ${shelves}
        where ${ours} and (low_at, low_id) < (shelf_at, shelf_id)), 0)
      + coalesce((select sum(n) from ${buckets}
        where ${ours} and (low_at, low_id) >= (shelf_at, shelf_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + ${pending('near_at, near_id')}
      + (select count(*) from ${itemsOf} and (${key}) >= (near_at, near_id) and item.${at} < since);
  end if;
  -- The page as a window of the ascending order, whichever way the list is given.
  first := ${newestFirst ? 'greatest(total - skip - take, older)' : 'older + skip'};
  past := ${newestFirst ? 'total - skip' : 'least(older + skip + take, total)'};
  total := total - older;
  ids := '{}';
  if first >= past then return; end if;
  -- The shelf that the page begins on, as far as counted; then the nearest key on it, the end of it included.
  select low_at, low_id, sum(n) over key - n as below, sum(n) over key,
    coalesce(lead(low_at) over key, top_at), coalesce(lead(low_id) over key, top_id)
  into shelf_at, shelf_id, shelf_below, shelf_past, high_at, high_id
  from ${shelves} cross join (select ${highest}) top (top_at, top_id) where ${ours}
  window key as (order by low_at, low_id rows unbounded preceding)
  order by sum(n) over key - n <= first desc, below desc limit 1;
  if not found then
    select * into high_at, high_id, shelf_past from (select ${highest}, 0) highest;
  end if;
  select * into near_at, near_id, rank from (
    select low_at, low_id, shelf_below + sum(n) over (order by low_at, low_id rows unbounded preceding) - n as below
    from ${buckets} where ${ours} and (low_at, low_id) >= (shelf_at, shelf_id)
      and (low_at, low_id) < (high_at, high_id)
    union all select high_at, high_id, shelf_past) bound
  order by abs(below - first) limit 1;
  rank := rank + ${pending('near_at, near_id')};
  -- Any key would do, once its rank is exact: the nearest has the fewest rows between itself and the page.
  ids := array(
    select page.id from (
      (select ${key} from ${itemsOf} and (${key}) < (near_at, near_id)
       order by item.${at} desc, item.${id} desc
       offset greatest(rank - past, 0) limit greatest(least(past, rank) - first, 0))
      union all
      (select ${key} from ${itemsOf} and (${key}) >= (near_at, near_id)
       order by ${key} offset greatest(first - rank, 0) limit greatest(past - greatest(first, rank), 0))
    ) page (at, id) order by ${newestFirst ? 'at desc, id desc' : 'at, id'});
end $$;`;
};

/** What has changed in a list so far, as one number: two equal ones mean the same rows. */
const stampOf = (directory: Directory, { filter, type, textOf, holds }: Narrowing): string => {
  const { shelves, changes, state, routine } = namesOf(directory);
  return `create function ${routine(`stamp_${filter}`)}(wanted ${type}) returns bigint
language plpgsql stable parallel safe ${settings} as $$
begin
  return (select bit_xor(mark) from (
    select mark from ${shelves} where filter = '${filter}' and value = ${textOf('wanted')}
    union all
    select mark from ${changes} change
    where xid >= (select folded_to from ${state}) and ${holds('change', 'wanted')}) marks);
end $$;`;
};

/** Statements for reading: a page with its total, and a stamp to keep counts under; one of each a filter. */
export const page = (directory: Directory): string[] =>
  narrowings(directory).flatMap((narrowing) => [pageOf(directory, narrowing), stampOf(directory, narrowing)]);
