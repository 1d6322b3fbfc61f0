import type { Directory } from '../declare.ts';
import { namesOf, narrowings, settings, type Narrowing } from './names.ts';
import { olderOf } from './older.ts';
import { placeOf } from './place.ts';

/** The rows of a page as they stand in the index, from its first one on. */
const rowsOf = (directory: Directory, { filter, type, holds }: Narrowing): string => {
  const { list, routine } = namesOf(directory);
  const { at, id, newestFirst } = directory;
  const key = `item.${at}, item.${id}`;
  return `create function ${routine(`rows_${filter}`)}(wanted ${type}, near_at timestamptz, near_id uuid, take bigint)
returns setof ${list} language plpgsql stable ${settings} as $$
begin
  return query select item.* from ${list} item where ${holds('item', 'wanted')}
  and (${key}) ${newestFirst ? '<=' : '>='} (near_at, near_id)
  order by ${newestFirst ? `item.${at} desc, item.${id} desc` : key} limit take;
end $$;`;
};

/**
 * The page as instances ask for it that still run the version before: a migration comes before the rollout, and until
 * that has ended both read. To be left out once no such instance can be running.
 */
const formerPageOf = (directory: Directory, { filter, type }: Narrowing): string => {
  const { list, routine } = namesOf(directory);
  const [older, place, rows] = ['older', 'place', 'rows'].map((part) => routine(`${part}_${filter}`));
  const [first, fit] = directory.newestFirst
    ? ['skip, true', 'greatest(least(take, total - before - skip), 0)']
    : ['before + skip, totalled', 'take'];
  return `create function ${routine(`page_${filter}`)}(wanted ${type}, since timestamptz, skip bigint, take integer,
  totalled boolean, out given ${list}, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then ${older}(wanted, since) end, 0)) older (before)
  cross join lateral ${place}(wanted, ${first}) place
  left join lateral ${rows}(wanted, near_at, near_id, ${fit}) item on true
$$;`;
};

/** Statements for reading a page with its total, one of each filter; they replace those of earlier versions. */
export const page = (directory: Directory): string[] => [
  `do $$ declare routine regprocedure; begin
  for routine in select oid from pg_proc where pronamespace = 'public'::regnamespace
    and proname ~ '^${namesOf(directory).prefix}_(older|place|rows|page)_'
  loop execute format('drop function %s', routine); end loop;
end $$;`,
  ...narrowings(directory).flatMap((narrowing) => [
    olderOf(directory, narrowing),
    placeOf(directory, narrowing),
    rowsOf(directory, narrowing),
    formerPageOf(directory, narrowing),
  ]),
];
