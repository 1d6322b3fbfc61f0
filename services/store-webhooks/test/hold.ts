import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';

/** An arbitrary number, because nothing else takes advisory locks in the database of a test. */
const key = 71;
const timeoutMs = 120_000;

/** The point where transactions are blocked: `trigger` has the event, table and rows for which it fires. */
export interface HoldPoint {
  trigger: string;
  kind?: 'trigger' | 'constraint trigger';
}

/** Blocks every statement that reaches `point` in the database of `url`, with a trigger that waits for our lock. */
export const holdAt = async (url: string, { trigger, kind = 'trigger' }: HoldPoint) => {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql`select pg_advisory_lock(${key})`;
  await sql.unsafe(`create function hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(${key}); return coalesce(new, old); end $$`);
  await sql.unsafe(`create ${kind} hold ${trigger} execute function hold()`);
  const blockedSessions = () => sql<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  return {
    /** Resolves when a transaction is blocked at the point. */
    reached: async () => {
      const end = Date.now() + timeoutMs;
      while ((await blockedSessions()).length === 0) {
        if (Date.now() > end) throw new Error('no transaction reached the point');
        await sleep(5);
      }
    },
    /** Releases blocked and later statements. Resolves when the transactions that were blocked have ended. */
    open: async () => {
      const blocked = (await blockedSessions()).map(({ pid }) => pid);
      await sql`select pg_advisory_unlock(${key})`;
      const running = () => sql`
        select from pg_stat_activity where pid = any(${blocked}) and xact_start is not null`;
      while ((await running()).length > 0) await sleep(5);
    },
    /** Ends the connections that a killed process left blocked, as the server would do later, and removes the trigger. */
    release: async () => {
      for (let waiting = await blockedSessions(); waiting.length > 0; waiting = await blockedSessions()) {
        for (const { pid } of waiting) await sql`select pg_terminate_backend(${pid})`;
        await sleep(10);
      }
      await sql`drop function hold() cascade`;
      await sql`select pg_advisory_unlock(${key})`;
    },
    [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }),
  };
};
