import type { Sql } from 'postgres';
import type { ReceivedEvent } from './event.ts';
import { storeEvents } from './insert-events.ts';

/** Thrown to roll back the transaction of an event that is a duplicate. */
class Duplicate extends Error {}
/** Thrown to roll back the transaction of an event whose body was erased after it was read. */
class Erased extends Error {}

/**
 * Replaces a refused event with `event`, the same event with a valid signature. Returns the new state: `ignored` if the same
 * event was accepted before, `refused` if its body was erased meanwhile. `isRemapped`: it is processed with the current mapping.
 */
export const acceptRefusedEvent = async (
  sql: Sql,
  event: ReceivedEvent,
  isRemapped: boolean,
): Promise<ReceivedEvent['state']> => {
  const { storeId, id } = event;
  try {
    return await sql.begin(async (tx) => {
      const refused = await tx`
        delete from results where store_id = ${storeId} and id = ${id} and state = 'refused'`;
      // A concurrent recheck has accepted it.
      if (refused.count === 0) return 'pending';
      // Waits for a running erasure.
      const { count } = await tx`
        delete from events where store_id = ${storeId} and id = ${id} and body_hash is null`;
      if (count === 0) throw new Erased();
      const [stored] = await storeEvents(tx, [event]);
      if (stored === 'duplicate') throw new Duplicate();
      if (isRemapped)
        await tx`update queue set is_remapped = true where store_id = ${storeId} and id = ${id}`;
      return event.state;
    });
  } catch (error) {
    if (error instanceof Erased) return 'refused';
    if (!(error instanceof Duplicate)) throw error;
    await sql`
      update results set state = 'ignored', error = 'The same event was accepted before.'
      where store_id = ${storeId} and id = ${id} and state = 'refused'`;
    return 'ignored';
  }
};
