import type { Directory } from '../declare.ts';
import { lowest, namesOf, narrowings, type Narrowing } from './names.ts';

/** The last bucket or shelf, of the value that `row` has, that begins where `condition` says. */
const last = (table: string, filter: string, value: string, condition: string) => `(
      select low_at, low_id from ${table} held
      where held.filter = ${filter} and held.value = ${value} and ${condition}
      order by low_at desc, low_id desc limit 1)`;

/** What of `gone` falls into which bucket, in the types of the list: as text only after it is added up. */
const bucketed = (directory: Directory, { filter, columnOf, textOf }: Narrowing): string => {
  const { buckets } = namesOf(directory);
  return `newest_${filter} as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select ${columnOf('gone')} as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral ${last(buckets, `'${filter}'`, textOf('newest.value'), 'low_at <= newest.at')} bucket on true
    where newest.value is not null
  ), bucketed_${filter} as (
    select '${filter}' as filter, ${textOf('newest.value')} as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_${filter} newest on newest.value = ${columnOf('gone')}
    left join lateral ${last(
      buckets,
      `'${filter}'`,
      textOf('newest.value'),
      '(gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)',
    )} bucket on true
    group by newest.value, 3, 4
  )`;
};

/**
 * The statement that moves up to `most` recorded changes into the counts. Only one session at a time does, and
 * never one that others wait for.
 */
export const fold = (directory: Directory): string[] => {
  const { list, buckets, shelves, changes, state, routine } = namesOf(directory);
  const recorded = `${changes} where xid >= (select folded_to from ${state})`;
  const parts = narrowings(directory);
  return [
    `create function ${routine('fold')}(most integer default 5000) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  folded integer;
  overfull ${buckets}[];
begin
  -- Nothing to do is the usual case: it must not cost a transaction id and a write.
  if not exists (select from ${recorded}) then return 0; end if;
  -- TRUNCATE has the list before it asks for the rest; in another order the two could wait for each other.
  lock table ${list} in access share mode;
  perform from ${state} for update skip locked;
  if not found then return 0; end if;
  -- One statement, one snapshot: what is taken from the changes is what is added to the counts.
  with lowest (at, id) as (
    select ${lowest}
  ), gone as (
    delete from ${changes} where ctid = any (array(select ctid from ${recorded} order by xid limit most))
    returning *
  ), ${parts.map((narrowing) => bucketed(directory, narrowing)).join(', ')}, bucketed as materialized (
    ${parts.map(({ filter }) => `select * from bucketed_${filter}`).join(' union all ')}
  ), shelved as (
    select bucketed.filter, bucketed.value, coalesce(shelf.low_at, lowest.at) as low_at,
      coalesce(shelf.low_id, lowest.id) as low_id, sum(n) as n, bit_xor(mark) as mark
    from bucketed cross join lowest
    left join lateral ${last(
      shelves,
      'bucketed.filter',
      'bucketed.value',
      '(low_at, low_id) <= (bucketed.low_at, bucketed.low_id)',
    )} shelf on true
    group by 1, 2, 3, 4
  ), counted_buckets as (
    insert into ${buckets} as held select filter, value, low_at, low_id, n from bucketed
    on conflict (filter, value, low_at, low_id) do update set n = held.n + excluded.n
    returning held
  ), counted_shelves as (
    insert into ${shelves} as held select filter, value, low_at, low_id, n, mark from shelved
    on conflict (filter, value, low_at, low_id)
    do update set n = held.n + excluded.n, mark = held.mark # excluded.mark
  ), settled as (
    -- What this snapshot can't see yet has a transaction id from its xmin on.
    update ${state} set folded_to = least(pg_snapshot_xmin(pg_current_snapshot()),
      (select max(xid) from gone having count(*) = most))
  )
  select (select count(*) from gone), array(select held from counted_buckets where (held).n > ${2 * directory.bucket})
  into folded, overfull;
  -- While it lags behind, every split would read the whole backlog; later is soon enough.
  if folded < most then perform ${routine('split')}(overfull); end if;
  return folded;
end $$;`,
  ];
};
