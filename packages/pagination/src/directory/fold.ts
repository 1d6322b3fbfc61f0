import { keyOf, pendingChanges, unfiltered, type Directory } from './directory.ts';

/**
 * The statement that moves all visible changes into the counts of their buckets, and keeps its own snapshot
 * as the state. One statement sees one snapshot: what it takes from the changes is what it adds to the counts.
 *
 * `changes_with_bucket_key` adds to each change the last key, not after its own, at which a bucket of any value
 * begins. Changes of one value with the same such key belong to the same bucket, so they are added up first, and one
 * bucket is looked up for each sum. Most changes come after `latest`, the last of these keys. `fresh` is the first
 * change after all rows that were counted before: if the last bucket is full, the next one begins there, and no row
 * has to be counted again.
 */
export const foldStatement = (directory: Directory): string => {
  const { buckets, changes, state, key, filters, bucket } = directory;
  const k = key.join(', ');
  const down = key.map((name) => `${name} desc`).join(', ');
  const at = (row: string) => `(${key.map((name) => `(select ${name} from ${row})`).join(', ')})`;
  const after = key.map((name) => `after_${name}`);
  const afterKey = (select: (name: string) => string) =>
    key.map((name) => `${select(name)} as after_${name}`).join(', ');
  const sums = [unfiltered, ...filters].map(
    ({ name, column, text }) => `
  select '${name}' as filter, ${text} as value, ${after.join(', ')}, is_fresh, sum(sign) as n
  from changes_with_bucket_key where ${column} is not null group by ${column}, ${after.join(', ')}, is_fresh having sum(sign) <> 0`,
  );
  return `
with removed as materialized (
  delete from ${changes} where ctid = any (array(${pendingChanges(directory, 'ctid')})) returning *
), latest as materialized (
  select ${k} from ${buckets} order by ${down} limit 1
), lowest as materialized (
  select ${k} from removed order by ${k} limit 1
), fresh as materialized (
  select ${k} from removed where (${k}) > ${at(state)} and (${k}) >= ${at('latest')} order by ${k} limit 1
), new_state as (
  update ${state} set
    folded_below = greatest(folded_below, pg_snapshot_xmax(pg_current_snapshot())),
    running = array(
      select xid from (select pg_snapshot_xip(pg_current_snapshot()) union select pg_current_xact_id()) running (xid)
      where xid < greatest(folded_below, pg_snapshot_xmax(pg_current_snapshot()))),
    (${k}) = (
      select ${k} from (select ${k} from removed union all select ${k} from ${state} where ${key[0]} is not null) counted
      order by ${down} limit 1)
), changes_with_bucket_key as materialized (
  select *, ${afterKey((name) => `(select ${name} from fresh)`)}, true as is_fresh from removed where (${k}) >= ${at('fresh')}
  union all
  select *, ${afterKey((name) => `(select ${name} from latest)`)}, false from removed
  where (${k}) >= ${at('latest')} and ((${k}) >= ${at('fresh')}) is not true
  union all
  select removed.*, ${afterKey((name) => `coalesce(bucket.${name}, (select ${name} from lowest))`)}, false
  from removed left join lateral (
    select * from ${buckets} bucket where (${keyOf(directory, 'bucket')}) <= (${keyOf(directory, 'removed')})
    order by ${down} limit 1) bucket on true
  where ((${keyOf(directory, 'removed')}) >= ${at('latest')}) is not true
), sums as (${sums.join(' union all ')}
), counted as (
  insert into ${buckets} as existing (filter, value, ${k}, n)
  select filter, value, ${k}, sum(n) from (
    select sums.filter, sums.value, sums.n, ${key
      .map(
        (name) => `
      case when is_fresh and existing.n >= ${bucket} then after_${name} else coalesce(existing.${name}, after_${name}) end as ${name}`,
      )
      .join(',')}
    from sums left join lateral (
      select * from ${buckets} bucket where bucket.filter = sums.filter and bucket.value = sums.value
        and (${keyOf(directory, 'bucket')}) <= (${after.join(', ')})
      order by ${down} limit 1) existing on true) found
  group by filter, value, ${k}
  on conflict (filter, value, ${k}) do update set n = existing.n + excluded.n
  returning filter, n
)
select (select count(*)::int from removed) as folded,
  array(select distinct filter from counted where n > ${2 * bucket}) as overfull`;
};
