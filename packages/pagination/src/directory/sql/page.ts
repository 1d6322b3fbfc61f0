import type { Directory } from '../declare.ts';
import { highest, lowest, namesOf, narrowings, type Narrowing } from './names.ts';

const pageOf = (directory: Directory, { filter, type, textOf, holds }: Narrowing): string => {
  const { list, buckets, changes, state, routine } = namesOf(directory);
  const { at, id, newestFirst } = directory;
  const key = `item.${at}, item.${id}`;
  const bucketsOf = `${buckets} where filter = '${filter}' and value = ${textOf('wanted')}`;
  const changesOf = `${changes} change where xid >= (select folded_to from ${state}) and ${holds('change', 'wanted')}`;
  const itemsOf = `${list} item where ${holds('item', 'wanted')}`;
  const downwards = `item.${at} desc, item.${id} desc`;
  return `create function ${routine(`page_${filter}`)}(wanted ${type}, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint, out pending bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  counted bigint;
  older bigint := 0;
  first bigint;
  past bigint;
  rank bigint;
  near_at timestamptz;
  near_id uuid;
begin
  select coalesce(sum(n), 0) into counted from ${bucketsOf};
  select counted + coalesce(sum(sign), 0), count(*) into total, pending from ${changesOf};
  if since is not null then
    select low_at, low_id into near_at, near_id from (
      select low_at, low_id from ${bucketsOf} and low_at < since
      union all select ${lowest}) bound
    order by low_at desc, low_id desc limit 1;
    older := coalesce((select sum(n) from ${bucketsOf} and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from ${changesOf} and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from ${itemsOf} and (${key}) >= (near_at, near_id) and item.${at} < since);
  end if;
  -- The page as a window of the ascending order, whichever way the list is given.
  first := ${newestFirst ? 'greatest(total - skip - take, older)' : 'older + skip'};
  past := ${newestFirst ? 'total - skip' : 'least(older + skip + take, total)'};
  total := total - older;
  ids := '{}';
  if first >= past then return; end if;
  select low_at, low_id, below into near_at, near_id, rank from (
    select low_at, low_id, sum(n) over (order by low_at, low_id rows unbounded preceding) - n as below
    from ${bucketsOf}
    union all select ${lowest}, 0
    union all select ${highest}, counted) bound
  order by abs(below - first) limit 1;
  rank := rank + coalesce((select sum(sign) from ${changesOf} and (change.at, change.id) < (near_at, near_id)), 0);
  -- Any key would do, once its rank is exact: the nearest has the fewest rows between itself and the page.
  ids := array(
    select page.id from (
      (select ${key} from ${itemsOf} and (${key}) < (near_at, near_id)
       order by ${downwards} offset greatest(rank - past, 0) limit greatest(least(past, rank) - first, 0))
      union all
      (select ${key} from ${itemsOf} and (${key}) >= (near_at, near_id)
       order by ${key} offset greatest(first - rank, 0) limit greatest(past - greatest(first, rank), 0))
    ) page (at, id) order by ${newestFirst ? 'at desc, id desc' : 'at, id'});
end $$;`;
};

/** What has changed in a list so far, as one number: two equal ones mean the same rows. */
const stampOf = (directory: Directory, { filter, type, textOf, holds }: Narrowing): string => {
  const { buckets, changes, state, routine } = namesOf(directory);
  return `create function ${routine(`stamp_${filter}`)}(wanted ${type}) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from ${buckets} where filter = '${filter}' and value = ${textOf('wanted')}
    union all
    select mark from ${changes} change
    where xid >= (select folded_to from ${state}) and ${holds('change', 'wanted')}) marks);
end $$;`;
};

/** Statements for reading: a page with its total, and a stamp to keep counts under; one of each a filter. */
export const page = (directory: Directory): string[] =>
  narrowings(directory).flatMap((narrowing) => [pageOf(directory, narrowing), stampOf(directory, narrowing)]);
