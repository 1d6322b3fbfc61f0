import type { Directory } from '../declare.ts';
import { highest, lowest, namesOf, narrowings, settings, type Narrowing } from './names.ts';

/**
 * A page is found by the place of its first row, counted from the oldest row: shelf, bucket, the end of the bucket
 * that is nearest to it, and from there along the index. Any key would do once its rank is exact; the nearest has
 * the fewest rows between itself and the page. Then the rows are read as they stand in the index, from that one on.
 */
const pageOf = (directory: Directory, { filter, type, textOf, holds }: Narrowing): string => {
  const { list, buckets, shelves, changes, state, routine } = namesOf(directory);
  const { at, id, newestFirst } = directory;
  const key = `item.${at}, item.${id}`;
  const reverse = `item.${at} desc, item.${id} desc`;
  const ours = `filter = '${filter}' and value = ${textOf('wanted')}`;
  const changesOf = `${changes} change where xid >= (select folded_to from ${state}) and ${holds('change', 'wanted')}`;
  const itemsOf = `${list} item where ${holds('item', 'wanted')}`;
  const near = '(near_at, near_id)';
  const counted = `coalesce((select sum(n) from ${shelves} where ${ours}), 0)`;
  const pendingBefore = `coalesce((select sum(sign) from ${changesOf} and (change.at, change.id) < ${near}), 0)`;
  return `create function ${routine(`page_${filter}`)}(wanted ${type}, since timestamptz, skip bigint, take integer,
  totalled boolean, out given ${list}, out total bigint)
returns setof record language plpgsql stable ${settings} as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
  waiting boolean := true;
begin
  if totalled or ${newestFirst} then
    select ${counted} + coalesce(sum(sign), 0), count(*) > 0 into total, waiting from ${changesOf};
  end if;
  if since is not null then
    select low_at, low_id into shelf from ${shelves} where ${ours} and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from ${buckets} where ${ours} and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select ${lowest}) lowest;
    end if;
    older := coalesce((select sum(n) from ${shelves}
        where ${ours} and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from ${buckets}
        where ${ours} and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < ${near}), 0)
      + ${pendingBefore}
      + (select count(*) from ${itemsOf} and (${key}) >= ${near} and item.${at} < since);
  end if;
  place := ${newestFirst ? 'total - 1 - skip' : 'older + skip'};
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from ${shelves} where ${ours}) run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from ${buckets} cross join (select ${highest}) top (top_at, top_id)
      where ${ours} and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select ${highest}) highest;
    rank := ${counted};
  end if;
  if waiting then
    rank := rank + ${pendingBefore};
  end if;
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank ${newestFirst ? '<=' : '<'} place then
    select ${key} into near_at, near_id from ${itemsOf} and (${key}) >= ${near}
    order by ${key} offset place - rank limit 1;
  elsif rank > place then
    select ${key} into near_at, near_id from ${itemsOf} and (${key}) < ${near}
    order by ${reverse} offset rank - place - 1 limit 1;
  end if;
  return query select item, total from ${itemsOf}
  and ${
    newestFirst
      ? `(${key}) <= ${near} order by ${reverse} limit greatest(least(take, place - older + 1), 0)`
      : `(${key}) >= ${near} order by ${key} limit take`
  };
  -- The total is told in any case.
  if not found then return next; end if;
end $$;`;
};

/**
 * The page as instances ask for it that still run the version before: a migration comes before the rollout, and until
 * that has ended both read. To be left out once no such instance can be running.
 */
const formerPageOf = (directory: Directory, { filter, type }: Narrowing): string => {
  const page = namesOf(directory).routine(`page_${filter}`);
  return `create function ${page}(wanted ${type}, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).${directory.id} order by place) filter (where (given).${directory.id} is not null), '{}'),
    max(page.total)
  from ${page}(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;`;
};

/** Statements for reading a page with its total, one of each filter. */
export const page = (directory: Directory): string[] =>
  narrowings(directory).flatMap((narrowing) => [
    pageOf(directory, narrowing),
    formerPageOf(directory, narrowing),
  ]);
