import type { ISql } from 'postgres';
import { arrayOf } from '../db/sql.ts';

/** Events that are not done, and those of them whose bodies name one of the values. */
interface Search {
  values: readonly string[];
  searched: readonly string[];
  found: readonly string[];
}

/** Bodies that a statement reads, each of at most 1 MiB. */
const slice = 100;

/**
 * Searches the bodies of the events that are not done, except those that an earlier search has read. Bodies have no index:
 * events that are done are found by their entity alone.
 */
export const searchEvents = async (
  sql: ISql,
  storeId: string,
  values: readonly string[],
  earlier?: Search,
): Promise<Search> => {
  const isKnown = earlier !== undefined && values.every((value) => earlier.values.includes(value));
  const known = isKnown ? earlier : { searched: [], found: [] };
  const rows = await sql<{ id: string }[]>`
    select id from (
      select id from queue where store_id = ${storeId}
      union select id from results where store_id = ${storeId} and state <> 'done') as unfinished
    where id <> all(${arrayOf(known.searched)}::text::uuid[])`;
  const ids = rows.map(({ id }) => id);
  const found = [...known.found];
  const written = arrayOf(values.map((value) => JSON.stringify(value)));
  for (let at = 0; at < ids.length; at += slice) {
    // A compressed body would be read again for each value, a copy is not.
    const named = await sql<{ id: string }[]>`
      select id from events e cross join lateral (select e.body || ''::bytea as copy offset 0) as read
      where store_id = ${storeId} and id = any(${arrayOf(ids.slice(at, at + slice))}::text::uuid[]) and body_hash is null
        and exists (
          select from unnest(${written}::text::text[]) as value where position(convert_to(value, 'UTF8') in copy) > 0)`;
    found.push(...named.map(({ id }) => id));
  }
  return { values, searched: [...known.searched, ...ids], found };
};

/**
 * Ends the events about a person that are to be processed, and empties the bodies of all; a hash stays. Returns how many
 * bodies there were.
 */
export const eraseEvents = async (
  sql: ISql,
  storeId: string,
  entities: readonly string[],
  found: readonly string[],
): Promise<number> => {
  await sql`
    with ended as (
      delete from queue where store_id = ${storeId}
        and (entity = any(${arrayOf(entities)}::text::text[]) or id = any(${arrayOf(found)}::text::uuid[]))
      returning store_id, id, attempts)
    insert into results (store_id, id, state, attempts, error, finished_at)
    select store_id, id, 'ignored', attempts, 'erased', now() from ended`;
  const erase = sql`update events e set body = '', body_hash = sha256(body) where store_id = ${storeId} and body_hash is null`;
  const ids = entities.map((entity) => entity.slice(entity.indexOf(':') + 1));
  let { count } = await sql`
    ${erase} and substr(entity, strpos(entity, ':') + 1) = any(${arrayOf(ids)}::text::text[]) and entity is not null
      and entity = any(${arrayOf(entities)}::text::text[])`;
  for (let at = 0; at < found.length; at += slice)
    count += (await sql`${erase} and id = any(${arrayOf(found.slice(at, at + slice))}::text::uuid[])`).count;
  return count;
};
