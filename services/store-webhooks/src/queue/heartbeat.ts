import type { Sql } from 'postgres';

/** The kinds of work, of all processes, of which some is due now. */
export interface DueWork {
  events: boolean;
  mails: boolean;
  imports: boolean;
}

/** The number of rows that were made due again, and what is due. */
export interface Beat extends DueWork {
  recovered: number;
}

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
  const dead = sql`array(select id from workers where alive_until < now() and id <> ${worker})`;
  // Passes over rows that are locked, because a worker that waits for them would be late with its own next report. They
  // are left to a later one: a dead worker is removed only when it has no rows any more.
  const [{ count }] = await sql<[{ count: number }]>`
    with events as (
      update queue set worker = null, due_at = now(), crashes = crashes + 1
      where ctid = any(array(select ctid from queue where worker = any(${dead}) for update skip locked))
      returning 1),
    mails as (
      update notifications set worker = null, due_at = now() where ctid = any(array(
        select ctid from notifications where mail = 'pending' and worker = any(${dead}) for update skip locked))
      returning 1),
    imports as (
      update import_jobs set worker = null, due_at = now() where ctid = any(array(
        select ctid from import_jobs where state = 'pending' and worker = any(${dead}) for update skip locked))
      returning 1)
    select ((select count(*) from events) + (select count(*) from mails) + (select count(*) from imports))::int as count`;
  await sql`
    delete from workers where alive_until < now() and id <> ${worker} and id <> all(array(
      select worker from queue where worker is not null
      union select worker from notifications where mail = 'pending' and worker is not null
      union select worker from import_jobs where state = 'pending' and worker is not null))`;
  return { events: true, mails: true, imports: true, recovered: count };
};

/** Removes a worker that has stopped. What it has not given back is due again. */
export const removeWorker = async (sql: Sql, worker: string): Promise<void> => {
  await sql`
    with events as (update queue set worker = null, due_at = now() where worker = ${worker}),
    mails as (
      update notifications set worker = null, due_at = now() where mail = 'pending' and worker = ${worker}),
    imports as (
      update import_jobs set worker = null, due_at = now() where state = 'pending' and worker = ${worker})
    delete from workers where id = ${worker}`;
};
