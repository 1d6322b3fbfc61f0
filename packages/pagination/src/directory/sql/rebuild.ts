import type { Directory } from '../declare.ts';
import { lowest, namesOf, narrowings, type Narrowing } from './names.ts';

/** How many rows each value has. */
const countOf = (directory: Directory, { filter, columnOf, textOf }: Narrowing): string => {
  const column = columnOf('item');
  return `select '${filter}' as filter, ${textOf(column)} as value, count(*) as n from ${namesOf(directory).list} item
      where ${column} is not null group by ${column}`;
};

/**
 * The statement that counts everything anew while others read and write. Readers see the old counts until it
 * commits; who writes meanwhile is neither counted nor forgotten.
 */
export const rebuild = (directory: Directory): string[] => {
  const { list, buckets, shelves, changes, state, routine } = namesOf(directory);
  const counts = narrowings(directory).map((narrowing) => countOf(directory, narrowing));
  return [
    `create function ${routine('rebuild')}() returns void language plpgsql as $$
begin
  lock table ${list} in access share mode;
  perform from ${state} for update;
  delete from ${buckets};
  delete from ${shelves};
  -- One statement, one snapshot: the changes it takes away are those whose rows it counts.
  with gone as (
    delete from ${changes}
  ), settled as (
    update ${state} set folded_to = pg_snapshot_xmin(pg_current_snapshot())
  ), counted as (
    ${counts.join('\n    union all\n    ')}
  ), shelved as (
    insert into ${shelves}
    select filter, value, ${lowest}, n, random(-9223372036854775808, 9223372036854775807) from counted
  )
  insert into ${buckets} select filter, value, ${lowest}, n from counted;
  perform ${routine('split')}(array(
    select bucket from ${buckets} bucket where n > ${2 * directory.bucket}));
end $$;`,
  ];
};
