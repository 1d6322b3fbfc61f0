import type { Directory } from '../declare.ts';
import { namesOf, narrowings, type Narrowing } from './names.ts';

/**
 * Cuts an overfull bucket into full ones. The part below a cut is as many rows as are passed over to find it, less
 * those of them that are not folded in yet, all in one snapshot; the part above is what remains of the bucket's
 * count, whatever was committed meanwhile.
 */
const splitOne = (directory: Directory, { filter, type, holds }: Narrowing): string => {
  const { list, buckets, changes, state, routine } = namesOf(directory);
  const { at, id, bucket } = directory;
  const key = `item.${at}, item.${id}`;
  const wanted = `wanted::${type}`;
  return `create function ${routine(`split_${filter}`)}(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from ${buckets}
    where filter = '${filter}' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= ${2 * bucket};
    select cut.at, cut.id, ${bucket} - coalesce((select sum(sign) from ${changes} change
        where xid >= (select folded_to from ${state}) and ${holds('change', wanted)}
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select ${key} from ${list} item where ${holds('item', wanted)} and (${key}) >= (from_at, from_id)
      order by ${key} offset ${bucket} limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from ${buckets} where filter = '${filter}' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update ${buckets} set n = below
    where filter = '${filter}' and value = wanted and low_at = from_at and low_id = from_id;
    insert into ${buckets} values ('${filter}', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;`;
};

/** Statements for splitting buckets; to be called with the state locked. */
export const split = (directory: Directory): string[] => {
  const { buckets, prefix, routine } = namesOf(directory);
  return [
    ...narrowings(directory).map((narrowing) => splitOne(directory, narrowing)),
    `create function ${routine('split')}(overfull ${buckets}[]) returns void language plpgsql as $$
declare
  bucket ${buckets};
begin
  foreach bucket in array overfull loop
    execute format('select public.%I($1, $2, $3)', '${prefix}_split_' || bucket.filter)
    using bucket.value, bucket.low_at, bucket.low_id;
  end loop;
  perform ${routine('shelve')}(filter, value)
  from (select distinct filter, value from unnest(overfull)) changed;
end $$;`,
  ];
};
