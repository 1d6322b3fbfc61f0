import type { Directory } from '../declare.ts';
import { namesOf } from './names.ts';

/** The statement that puts the buckets of a filter value on shelves anew, after their keys changed. */
export const shelve = (directory: Directory): string[] => {
  const { buckets, shelves, routine } = namesOf(directory);
  return [
    `create function ${routine('shelve')}(of_filter text, of_value text) returns void language plpgsql as $$
declare
  mark_so_far bigint;
begin
  select bit_xor(mark) into mark_so_far from ${shelves} where filter = of_filter and value = of_value;
  delete from ${shelves} where filter = of_filter and value = of_value;
  insert into ${shelves}
  select of_filter, of_value, low_at, low_id, n, case when place = 1 then mark_so_far else 0 end from (
    select low_at, low_id, row_number() over key as place,
      sum(n) over (key rows between current row and ${directory.shelf - 1} following) as n
    from ${buckets} where filter = of_filter and value = of_value
    window key as (order by low_at, low_id)) run
  where place % ${directory.shelf} = 1;
end $$;`,
  ];
};
