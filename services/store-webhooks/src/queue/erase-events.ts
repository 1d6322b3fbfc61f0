import type { ISql } from 'postgres';
import { arrayOf } from '../db/sql.ts';

/** What tells that an event is about a person. */
interface Traces {
  /** As in `ReceivedEvent`. */
  entities: readonly string[];
  /** An id or address that identifies the person in the body of an event whose entity is another or unknown. */
  values: readonly string[];
}

/**
 * Ends the events about a person that are to be processed, and empties the bodies of all; a hash stays. Bodies have no index,
 * so those of events that are done are found by their entity alone. Returns how many bodies there were.
 */
export const eraseEvents = async (
  sql: ISql,
  storeId: string,
  { entities, values }: Traces,
): Promise<number> => {
  const written = arrayOf(values.map((value) => JSON.stringify(value)));
  const namesPerson = sql`exists (
    select from unnest(${written}::text::text[]) as value where position(convert_to(value, 'UTF8') in e.body) > 0)`;
  await sql`
    with ended as (
      delete from queue q using events e
      where q.store_id = ${storeId} and e.store_id = q.store_id and e.id = q.id
        and (q.entity = any(${arrayOf(entities)}::text::text[]) or ${namesPerson})
      returning q.store_id, q.id, q.attempts)
    insert into results (store_id, id, state, attempts, error, finished_at)
    select store_id, id, 'ignored', attempts, 'erased', now() from ended`;
  const erase = sql`update events e set body = '', body_hash = sha256(body) where store_id = ${storeId} and body_hash is null`;
  const ids = entities.map((entity) => entity.slice(entity.indexOf(':') + 1));
  const known = await sql`
    ${erase} and substr(entity, strpos(entity, ':') + 1) = any(${arrayOf(ids)}::text::text[]) and entity is not null
      and entity = any(${arrayOf(entities)}::text::text[])`;
  const others = await sql`
    ${erase} and id = any(array(select id from results where store_id = ${storeId} and state <> 'done'))
      and ${namesPerson}`;
  return known.count + others.count;
};
