import type { Directory } from '../declare.ts';
import { highest, namesOf, narrowings, type Narrowing } from './names.ts';

/** By how many rows each bucket, and each value without a bucket, is off. */
const driftOf = (directory: Directory, { filter, type, columnOf, textOf, holds }: Narrowing): string => {
  const { list, buckets, changes, state } = namesOf(directory);
  const recorded = `${changes} change where xid >= (select folded_to from ${state})`;
  const key = `item.${directory.at}, item.${directory.id}`;
  const valueOf = (row: string) => textOf(columnOf(row));
  const held = (row: string) => holds(row, `bucket.value::${type}`);
  const unheld = (row: string) =>
    `${valueOf(row)} not in (select value from ${buckets} where filter = '${filter}')`;
  return `select abs(n
      + (select coalesce(sum(sign), 0) from ${recorded}
        and ${held('change')} and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from ${list} item
        where ${held('item')} and (${key}) >= (low_at, low_id) and (${key}) < (high_at, high_id))) as off
  from (${upTo(`${buckets} where filter = '${filter}'`)}) bucket
  union all
  select abs(sum(n)) from (
    select ${valueOf('change')} as value, sign as n from ${recorded} and ${unheld('change')}
    union all
    select ${valueOf('item')}, -1 from ${list} item where ${unheld('item')}) rest
  where value is not null group by value`;
};

/** Buckets or shelves, each with the key at which the next one begins. */
const upTo = (rows: string): string => `
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from ${rows}) low cross join (select ${highest}) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)`;

/** The statement that compares the directory with the list; gives by how many rows it is off, which must be 0. */
export const drift = (directory: Directory): string[] => {
  const { buckets, shelves, routine } = namesOf(directory);
  const shelved = `select abs(n - coalesce((select sum(bucket.n) from ${buckets} bucket
      where bucket.filter = shelf.filter and bucket.value = shelf.value
        and (bucket.low_at, bucket.low_id) >= (shelf.low_at, shelf.low_id)
        and (bucket.low_at, bucket.low_id) < (shelf.high_at, shelf.high_id)), 0)) as off
  from (${upTo(shelves)}) shelf`;
  const parts = [shelved, ...narrowings(directory).map((narrowing) => driftOf(directory, narrowing))];
  return [
    `create function ${routine('drift')}() returns bigint language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select coalesce(sum(off), 0) from (
  ${parts.join('\n  union all\n  ')}) parts);
end $$;`,
  ];
};
