import type { Directory } from '../declare.ts';
import { lowest, namesOf, placesOf } from './names.ts';

/**
 * The statement that moves up to `most` recorded changes into the counts. Only one session at a time does, and
 * never one that others wait for.
 */
export const fold = (directory: Directory): string[] => {
  const { list, buckets, changes, state, routine } = namesOf(directory);
  return [
    `create function ${routine('fold')}(most integer default 5000) returns integer language plpgsql as $$
declare
  folded integer;
begin
  -- Nothing to do is the usual case: it must not cost a transaction id and a write.
  if not exists (select from ${changes} where xid >= (select folded_to from ${state})) then return 0; end if;
  -- TRUNCATE has the list before it asks for the rest; in another order the two could wait for each other.
  lock table ${list} in access share mode;
  perform from ${state} for update skip locked;
  if not found then return 0; end if;
  -- One statement, one snapshot: what is taken from the changes is what is added to the buckets.
  with gone as (
    delete from ${changes} where ctid = any (array(
      select ctid from ${changes} where xid >= (select folded_to from ${state}) order by xid limit most))
    returning *
  ), placed as (
    select place.*, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id, sign, mark
    from gone cross join (select ${lowest}) lowest (at, id)
    cross join lateral ${placesOf(directory, 'gone')}
    left join lateral (
      select low_at, low_id from ${buckets} bucket
      where bucket.filter = place.filter and bucket.value = place.value and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    where place.value is not null
  ), counted as (
    insert into ${buckets} as bucket
    select filter, value, low_at, low_id, sum(sign), bit_xor(mark) from placed group by 1, 2, 3, 4
    on conflict (filter, value, low_at, low_id)
    do update set n = bucket.n + excluded.n, mark = bucket.mark # excluded.mark
  ), settled as (
    -- What this snapshot can't see yet has a transaction id from its xmin on.
    update ${state} set folded_to = least(pg_snapshot_xmin(pg_current_snapshot()),
      (select max(xid) from gone having count(*) = most))
  )
  select count(*) into folded from gone;
  -- While it lags behind, every split would read the whole backlog; later is soon enough.
  if folded between 1 and most - 1 then perform ${routine('split')}(); end if;
  return folded;
end $$;`,
  ];
};
