import type { Directory } from '../declare.ts';
import { namesOf } from './names.ts';

/**
 * The statement for the occasional tidying: splits what is overfull still, joins neighbours where rows have left many
 * small buckets behind, forgets values that no row has. Joining only adds counts up: no snapshot matters.
 */
export const thin = (directory: Directory): string[] => {
  const { buckets, shelves, state, routine } = namesOf(directory);
  const { bucket } = directory;
  return [
    `create function ${routine('thin')}() returns void language plpgsql as $$
declare
  sparse record;
begin
  perform from ${state} for update skip locked;
  if not found then return; end if;
  -- Written, not only locked: a REPEATABLE READ session that still sees the old buckets must fail, not fold.
  update ${state} set folded_to = folded_to;
  -- Folding may have left some behind while it lagged.
  perform ${routine('split')}(array(select held from ${buckets} held where n > ${2 * bucket}));
  for sparse in
    select filter, value from ${buckets} group by filter, value
    having count(*) > 2 + 2 * sum(greatest(n, 0)) / ${bucket}
  loop
    -- The running total cut into pieces of one bucket each: a piece is a run of neighbours.
    with run as (
      select low_at, low_id, n, (sum(greatest(n, 0)) over (order by low_at, low_id)
        - greatest(n, 0)) / ${bucket} as piece
      from ${buckets} where filter = sparse.filter and value = sparse.value
    ), joined as (
      select low_at, low_id, sum(n) over (partition by piece) as n,
        row_number() over (partition by piece order by low_at, low_id) = 1 as stays
      from run
    ), gone as (
      delete from ${buckets} held using joined
      where not stays and held.filter = sparse.filter and held.value = sparse.value
        and held.low_at = joined.low_at and held.low_id = joined.low_id
    )
    update ${buckets} held set n = joined.n from joined
    where stays and held.filter = sparse.filter and held.value = sparse.value
      and held.low_at = joined.low_at and held.low_id = joined.low_id;
    perform ${routine('shelve')}(sparse.filter, sparse.value);
  end loop;
  with gone as (
    delete from ${buckets} held where n = 0 and not exists (
      select from ${buckets} other where other.filter = held.filter and other.value = held.value
        and (other.low_at, other.low_id) <> (held.low_at, held.low_id))
    returning filter, value)
  delete from ${shelves} using gone
  where ${shelves}.filter = gone.filter and ${shelves}.value = gone.value;
end $$;`,
  ];
};
