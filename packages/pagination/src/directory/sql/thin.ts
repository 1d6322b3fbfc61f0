import type { Directory } from '../declare.ts';
import { namesOf } from './names.ts';

/**
 * The statement that joins neighbours where rows have left many small buckets behind, and forgets values that no
 * row has. Counts are only added up, so that no snapshot matters.
 */
export const thin = (directory: Directory): string[] => {
  const { buckets, state, routine } = namesOf(directory);
  return [
    `create function ${routine('thin')}() returns void language plpgsql as $$
begin
  perform from ${state} for update skip locked;
  if not found then return; end if;
  -- Written, not only locked: a REPEATABLE READ session that still sees the old buckets must fail, not fold.
  update ${state} set folded_to = folded_to;
  with sparse as (
    select filter, value from ${buckets} group by filter, value
    having count(*) > 2 + 2 * sum(greatest(n, 0)) / ${directory.bucket}
  ), run as (
    -- Cut the running total into pieces of one bucket each: a piece is a run of neighbours.
    select filter, value, low_at, low_id, n, mark, (sum(greatest(n, 0)) over (
      partition by filter, value order by low_at, low_id) - greatest(n, 0))::bigint / ${directory.bucket} as piece
    from ${buckets} join sparse using (filter, value)
  ), joined as (
    select filter, value, low_at, low_id, sum(n) over piece as n, bit_xor(mark) over piece as mark,
      row_number() over (piece order by low_at, low_id) = 1 as stays
    from run window piece as (partition by filter, value, piece)
  ), gone as (
    delete from ${buckets} bucket using joined
    where not stays and (bucket.filter, bucket.value, bucket.low_at, bucket.low_id)
      = (joined.filter, joined.value, joined.low_at, joined.low_id)
  )
  update ${buckets} bucket set n = joined.n, mark = joined.mark from joined
  where stays and (bucket.filter, bucket.value, bucket.low_at, bucket.low_id)
    = (joined.filter, joined.value, joined.low_at, joined.low_id);
  delete from ${buckets} bucket where n = 0 and not exists (
    select from ${buckets} other where other.filter = bucket.filter and other.value = bucket.value
      and (other.low_at, other.low_id) <> (bucket.low_at, bucket.low_id));
end $$;`,
  ];
};
