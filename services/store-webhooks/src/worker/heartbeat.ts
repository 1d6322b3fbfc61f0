import type { Sql } from 'postgres';

/**
 * Reports that a worker is alive for `leaseMs` more. Makes the events of workers that did not report in time due again,
 * counts a crash for each of these events, and returns their number.
 */
export const beat = async (sql: Sql, worker: string, leaseMs: number): Promise<number> => {
  const [row] = await sql<{ dead: boolean }[]>`
    with alive as (
      insert into workers (id, alive_until) values (${worker}, now() + ${leaseMs} * interval '1 ms')
      on conflict (id) do update set alive_until = excluded.alive_until)
    select exists (select from workers where alive_until < now() and id <> ${worker}) as dead`;
  if (!row?.dead) return 0;
  // Passes over rows that are locked, because a worker that waits for them would be late with its own next report. They
  // are left to a later one: a dead worker is removed only when it has no events any more.
  const { count } = await sql`
    with freed as materialized (
      select ctid from queue
      where worker = any(array(select id from workers where alive_until < now() and id <> ${worker}))
      for update skip locked)
    update queue set worker = null, due_at = now(), crashes = crashes + 1
    where ctid = any(array(select ctid from freed))`;
  await sql`
    delete from workers where alive_until < now() and id <> ${worker}
      and id <> all(array(select distinct worker from queue where worker is not null))`;
  return count;
};

/** Removes a worker that has stopped. Events that it could not give back during an outage are due again. */
export const removeWorker = async (sql: Sql, worker: string): Promise<void> => {
  await sql`
    with given_back as (update queue set worker = null, due_at = now() where worker = ${worker})
    delete from workers where id = ${worker}`;
};
