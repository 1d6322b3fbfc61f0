import type { Directory } from '../declare.ts';
import { lowest, namesOf, placesOf } from './names.ts';

/**
 * The statement that moves up to `most` recorded changes into the counts. Only one session at a time does, and
 * never one that others wait for.
 */
export const fold = (directory: Directory): string[] => {
  const { list, buckets, shelves, changes, state, routine } = namesOf(directory);
  /** Key of the bucket or shelf that a key of the same filter value is in. */
  const holding = (table: string, alias: string, row: string, key: string) => `left join lateral (
      select low_at, low_id from ${table} held
      where held.filter = ${row}.filter and held.value = ${row}.value and (low_at, low_id) <= (${key})
      order by low_at desc, low_id desc limit 1) ${alias} on true`;
  const keyOf = (alias: string) =>
    `coalesce(${alias}.low_at, lowest.at) as low_at, coalesce(${alias}.low_id, lowest.id) as low_id`;
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
  -- One statement, one snapshot: what is taken from the changes is what is added to the counts.
  with lowest (at, id) as (
    select ${lowest}
  ), gone as (
    delete from ${changes} where ctid = any (array(
      select ctid from ${changes} where xid >= (select folded_to from ${state}) order by xid limit most))
    returning *
  ), bucketed as (
    select place.filter, place.value, ${keyOf('bucket')}, sum(sign) as n, bit_xor(mark) as mark
    from gone cross join lowest cross join lateral ${placesOf(directory, 'gone')}
    ${holding(buckets, 'bucket', 'place', 'gone.at, gone.id')}
    where place.value is not null group by 1, 2, 3, 4
  ), shelved as (
    select bucketed.filter, bucketed.value, ${keyOf('shelf')}, sum(n) as n, bit_xor(mark) as mark
    from bucketed cross join lowest
    ${holding(shelves, 'shelf', 'bucketed', 'bucketed.low_at, bucketed.low_id')}
    group by 1, 2, 3, 4
  ), counted_buckets as (
    insert into ${buckets} as held select filter, value, low_at, low_id, n from bucketed
    on conflict (filter, value, low_at, low_id) do update set n = held.n + excluded.n
  ), counted_shelves as (
    insert into ${shelves} as held select filter, value, low_at, low_id, n, mark from shelved
    on conflict (filter, value, low_at, low_id)
    do update set n = held.n + excluded.n, mark = held.mark # excluded.mark
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
