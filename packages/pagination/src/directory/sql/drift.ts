import type { Directory } from '../declare.ts';
import { highest, namesOf, narrowings, type Narrowing } from './names.ts';

/** By how many rows each bucket, and each value without a bucket, is off. */
const driftOf = (directory: Directory, { filter, type, valueOf, holds }: Narrowing): string => {
  const { list, buckets, changes } = namesOf(directory);
  const key = `item.${directory.at}, item.${directory.id}`;
  const held = (row: string) => holds(row, `bucket.value::${type}`);
  const unheld = (row: string) =>
    `${valueOf(row)} not in (select value from ${buckets} where filter = '${filter}')`;
  return `select abs(n
      + (select coalesce(sum(sign), 0) from ${changes} change
        where ${held('change')} and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from ${list} item
        where ${held('item')} and (${key}) >= (low_at, low_id) and (${key}) < (high_at, high_id))) as off
  from (
    select value, low_at, low_id, n, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from ${buckets} cross join (select ${highest}) top (top_at, top_id) where filter = '${filter}'
    window after as (partition by value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select ${valueOf('change')} as value, sign as n from ${changes} change where ${unheld('change')}
    union all
    select ${valueOf('item')}, -1 from ${list} item where ${unheld('item')}) rest
  where value is not null group by value`;
};

/** The statement that compares the directory with the list; gives by how many rows it is off, which must be 0. */
export const drift = (directory: Directory): string[] => [
  `create function ${namesOf(directory).routine('drift')}() returns bigint language sql stable as $$
  select coalesce(sum(off), 0)::bigint from (
  ${narrowings(directory)
    .map((narrowing) => driftOf(directory, narrowing))
    .join('\n  union all\n  ')}) buckets
$$;`,
];
