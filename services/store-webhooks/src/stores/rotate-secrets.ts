import type { Context } from '../context.ts';
import { resealUrl } from '../hooks/receipt.ts';
import { credentialsContext } from './credentials.ts';

/** Encrypts again what older keys encrypted, row by row, so that it can run beside the service and be repeated. */
export const rotateSecrets = async ({
  database,
  box,
}: Context): Promise<{ stores: number; events: number }> => {
  const { sql } = database;
  let [stores, events] = [0, 0];
  for (const { id } of await sql<{ id: string }[]>`select id from stores order by id`) {
    await sql.begin(async (tx) => {
      const [row] = await tx<{ credentials: string }[]>`
        select credentials from stores where id = ${id} for update`;
      if (row === undefined || !box.isOutdated(row.credentials)) return;
      const credentials = box.seal(box.open(row.credentials, credentialsContext(id)), credentialsContext(id));
      await tx`update stores set credentials = ${credentials} where id = ${id}`;
      stores++;
    });
    const refused = await sql<{ eventId: string; sealed: string }[]>`
      select id as "eventId", headers ->> ':url' as sealed from inbox
      where store_id = ${id} and state || '' = 'refused' and headers ? ':url'`;
    for (const { eventId, sealed } of refused.filter((event) => box.isOutdated(event.sealed))) {
      await sql`
        update inbox set headers = headers || jsonb_build_object(':url', ${resealUrl(box, id, eventId, sealed)}::text)
        where store_id = ${id} and id = ${eventId} and state = 'refused'`;
      events++;
    }
  }
  return { stores, events };
};
