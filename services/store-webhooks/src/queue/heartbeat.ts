import type { Sql } from 'postgres';

/** The kinds of work, of all instances, of which some is due now. */
export interface DueWork {
  events: boolean;
  mails: boolean;
  imports: boolean;
}

/** The number of rows that were made due again, and what is due. */
export interface Beat extends DueWork {
  recovered: number;
}

/** The tables of work that a worker claims, and how a row of it that was claimed by a dead worker is counted. */
const claimed = [
  { table: 'queue', isOpen: 'true', crash: ', crashes = crashes + 1' },
  { table: 'notifications', isOpen: "mail = 'pending'", crash: '' },
  { table: 'import_jobs', isOpen: "state = 'pending'", crash: '' },
] as const;

/**
 * Reports that a worker is alive for `leaseMs` more. Makes the events, mails and imports of workers that did not report in
 * time due again, and counts a crash for each of these events. The same statement looks for work, so that an idle worker
 * asks the database for nothing else.
 */
export const beat = async (sql: Sql, worker: string, leaseMs: number): Promise<Beat> => {
  // A worker that was late itself does not end the claims of others: the database may have been unavailable for all of them.
  const [{ dead: isAnyDead, ...due }] = await sql<[DueWork & { dead: boolean }]>`
    with alive as (
      insert into workers as w (id, alive_until) values (${worker}, now() + ${leaseMs} * interval '1 ms')
      on conflict (id) do update set alive_until = excluded.alive_until
      returning coalesce(old.alive_until < now(), false) as was_late)
    select not was_late and exists (select from workers where alive_until < now() and id <> ${worker}) as dead,
      exists (select from queue where due_at <= now() and crashes <= 2)
        or exists (select from queue where due_at <= now() and crashes > 2) as events,
      exists (select from notifications where mail = 'pending' and worker is null and due_at <= now()) as mails,
      exists (select from import_jobs where state = 'pending' and worker is null and due_at <= now()) as imports
    from alive`;
  if (!isAnyDead) return { ...due, recovered: 0 };
  const isDead = sql`alive_until < now() and id <> ${worker}`;
  let recovered = 0;
  // Passes over rows that are locked, because a worker that waits for them would be late with its own next report. They
  // are left to a later one: a dead worker is removed only when it has no rows any more.
  for (const { table, isOpen, crash } of claimed) {
    const { count } = await sql`
      update ${sql(table)} set worker = null, due_at = now() ${sql.unsafe(crash)} where ctid = any(array(
        select ctid from ${sql(table)} where ${sql.unsafe(isOpen)}
          and worker = any(array(select id from workers where ${isDead})) for update skip locked))`;
    recovered += count;
  }
  await sql`
    delete from workers where ${isDead} and id <> all(array(
      select worker from queue where worker is not null
      union select worker from notifications where mail = 'pending' and worker is not null
      union select worker from import_jobs where state = 'pending' and worker is not null))`;
  return { events: true, mails: true, imports: true, recovered };
};

/** Removes a worker that has stopped. What it has not given back is due again. */
export const removeWorker = async (sql: Sql, worker: string): Promise<void> => {
  await sql.begin(async (tx) => {
    for (const { table, isOpen } of claimed)
      await tx`
        update ${tx(table)} set worker = null, due_at = now() where ${tx.unsafe(isOpen)} and worker = ${worker}`;
    await tx`delete from workers where id = ${worker}`;
  });
};
