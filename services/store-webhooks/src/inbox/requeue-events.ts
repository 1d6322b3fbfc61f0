import type { Sql } from 'postgres';
import type { EventRow } from './find-events.ts';

/**
 * Makes events that ended in `state` due again and resets their attempts, except those whose body was erased. Waits for
 * running erasures: until they commit, a worker could still read the bodies. Events in `remappedIds` are processed with the
 * current mapping. Returns how many events became due.
 */
export const requeueEvents = async (
  sql: Sql,
  storeId: string,
  ids: readonly string[],
  state: string,
  remappedIds: readonly string[] = [],
): Promise<number> => {
  const { count } = await sql`
    with ended as materialized (
      select id from results where store_id = ${storeId} and id = any(${[...ids]}) and state = ${state} for update),
    whole as materialized (
      select id from events where store_id = ${storeId} and id = any(array(select id from ended)) and body_hash is null for share),
    requeued as (
      delete from results where store_id = ${storeId} and id = any(array(select id from whole)) returning id)
    insert into queue (store_id, entity, id, queued_at, due_at, attempts, is_remapped)
    select store_id, coalesce(entity, id::text), id, now(), now(), 0, id = any(${[...remappedIds]}::uuid[]) from events
    where store_id = ${storeId} and id = any(array(select id from requeued))`;
  return count;
};

/**
 * Makes a pending event due at once and resets its attempts; a worker that has claimed it cannot end it any more. `isRemapped`:
 * it is processed with the current mapping.
 */
export const restartEvent = async (
  sql: Sql,
  { storeId, entity, id }: EventRow,
  isRemapped: boolean,
): Promise<void> => {
  await sql`
    update queue set queued_at = now(), due_at = now(), worker = null, attempts = 0, crashes = 0, error = null,
      is_remapped = ${isRemapped}
    where store_id = ${storeId} and entity = ${entity ?? id} and id = ${id}`;
};
