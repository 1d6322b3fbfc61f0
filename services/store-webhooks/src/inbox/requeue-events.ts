import type { Sql } from 'postgres';
import type { EventRow } from './find-events.ts';

/**
 * Makes events that have ended in `state` due again, with all attempts left; none whose body was erased. Those in `remapped`
 * may be read with the mapping of today. Returns how many.
 */
export const requeueEvents = async (
  sql: Sql,
  storeId: string,
  ids: readonly string[],
  state: string,
  remapped: readonly string[] = [],
): Promise<number> => {
  const { count } = await sql`
    with again as (
      delete from results where store_id = ${storeId} and id = any(${[...ids]}) and state = ${state}
          and not exists (select from events e where e.store_id = ${storeId} and e.id = results.id and e.body_hash is not null)
        returning id)
    insert into queue (store_id, entity, id, queued_at, due_at, attempts, is_remapped)
    select store_id, coalesce(entity, id::text), id, now(), now(), 0, id = any(${[...remapped]}::uuid[]) from events
    where store_id = ${storeId} and id = any(array(select id from again))`;
  return count;
};

/**
 * Makes a pending event due at once, with all attempts left; a worker that has it cannot end it any more. If it `isRemapped`,
 * it may be read with the mapping of today.
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
