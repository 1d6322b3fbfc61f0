import { keyOf, pendingChanges, type Directory, type Filter } from './directory.ts';

/**
 * What the buckets of a filter must add up to: one entry for each row, and one that takes back each
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
