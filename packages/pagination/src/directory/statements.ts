import { keyOf, pendingChanges, unfiltered, type Directory, type Filter } from './directory.ts';

/**
 * SQL of the entries whose sum the buckets of a filter must equal: one for each row, and one that reverses each
 * pending change.
 */
const entries = (directory: Directory, { column, text }: Filter): string => {
  const k = directory.key.join(', ');
  return `select ${text} as value, ${k}, 1 as n, true as is_row from ${directory.table} item
    where ${column} is not null
  union all
  select ${text}, ${k}, -sign, false from (${pendingChanges(directory, '*')}) item where ${column} is not null`;
};

/** SQL that divides `entries` (part, value, key, n, is_row) into new buckets of `bucket` rows each. */
const divideIntoBuckets = ({ key, bucket }: Directory): string => {
  const k = key.join(', ');
  return `numbered as (
  select *, (greatest(count(*) filter (where is_row) over (partition by value, part order by ${k}, is_row desc
    rows unbounded preceding), 1) - 1) / ${bucket} as piece from entries
), pieces as (
  select distinct on (value, part, piece) value, part, piece, ${k},
    sum(n) over (partition by value, part, piece) as n
  from numbered order by value, part, piece, ${k}
)`;
};

/** Inserts new buckets for a filter, after the old ones were deleted. $1: a value, or null for all. */
export const recountStatement = (directory: Directory, filter: Filter): string => `
with entries as (
  select *, 0 as part from (${entries(directory, filter)}) entry where $1::text is null or value = $1
), ${divideIntoBuckets(directory)}
insert into ${directory.buckets} (filter, value, ${directory.key.join(', ')}, n)
select '${filter.name}', value, ${directory.key.join(', ')}, n from pieces`;

/** Splits the buckets of a filter that have grown over twice their size. Each keeps its own key. */
export const splitStatement = (directory: Directory, filter: Filter): string => {
  const { table, buckets, key, bucket } = directory;
  const k = key.join(', ');
  const ends = key.map((name) => `next.${name}`).join(', ');
  return `
with pending as materialized (${pendingChanges(directory, '*')}
), overfull as materialized (
  select row_number() over () as part, existing.* from ${buckets} existing
  where filter = '${filter.name}' and n > ${2 * bucket}
), entries as (
  select entry.*, overfull.part from overfull
  left join lateral (
    select ${k} from ${buckets} other where other.filter = overfull.filter and other.value = overfull.value
      and (${keyOf(directory, 'other')}) > (${keyOf(directory, 'overfull')})
    order by ${k} limit 1) next on true
  cross join lateral (
    -- As many rows as the bucket can have: the limit keeps the scan from going on to the end of the list.
    (select overfull.value, ${k}, 1 as n, true as is_row from ${table} item
    where ${filter.column} = overfull.value::${filter.type}
      and (${keyOf(directory, 'item')}) >= (${keyOf(directory, 'overfull')})
    order by ${k} limit overfull.n + (select count(*) from pending))
    union all
    select overfull.value, ${k}, -sign, false from pending item
    where ${filter.column} = overfull.value::${filter.type}
      and (${keyOf(directory, 'item')}) >= (${keyOf(directory, 'overfull')})) entry
  where next.${key[0]} is null or (${keyOf(directory, 'entry')}) < (${ends})
), ${divideIntoBuckets(directory)}
insert into ${buckets} as existing (filter, value, ${k}, n)
select '${filter.name}', value, ${key.map((name) => `case when piece = 0 then (select overfull.${name} from overfull where overfull.part = pieces.part) else ${name} end`).join(', ')}, n from pieces
on conflict (filter, value, ${k}) do update set n = excluded.n`;
};

/** By how many rows the buckets of a filter differ from the list, bucket by bucket; 0 unless a trigger was bypassed. */
export const driftStatement = (directory: Directory, filter: Filter): string => {
  const k = directory.key.join(', ');
  return `
with entries as (
  select value, ${k}, n, false as is_bucket from (${entries(directory, filter)}) entry
  union all
  select value, ${k}, -n, true from ${directory.buckets} where filter = '${filter.name}'
), with_bucket as (
  select value, n, count(*) filter (where is_bucket) over (partition by value order by ${k}, is_bucket desc
    rows unbounded preceding) as bucket from entries
)
select coalesce(sum(abs(difference)), 0)::bigint as drift from (
  select sum(n) as difference from with_bucket group by value, bucket) sums`;
};

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
