import type { Sql } from 'postgres';

/** A table of work that workers claim: it has the columns `worker` and `due_at`. All texts are SQL of the service, never input. */
export interface ClaimedTable {
  table: string;
  /** Condition of the rows that may be claimed. */
  isOpen: string;
  /** Expression: whether any row is due. By default a row is due when it is open, unclaimed and past `due_at`. */
  isAnyDue?: string;
  /** Further columns to set in a row whose worker has died. */
  afterDeath?: string;
}

interface HeartbeatOptions<Kind extends string> {
  sql: Sql;
  /** Id of this worker. */
  worker: string;
  /** For how long a worker that does not report counts as alive. */
  leaseMs: number;
  /** By the kind of work. */
  tables: Readonly<Record<Kind, ClaimedTable>>;
}

/** What `createHeartbeat` makes. */
export type Heartbeat<Kind extends string> = ReturnType<typeof createHeartbeat<Kind>>;

/**
 * Says in the table `workers` (`id`, `alive_until`) that a worker is alive, so that others take over what it had claimed
 * when it dies.
 */
export const createHeartbeat = <Kind extends string>({
  sql,
  worker,
  leaseMs,
  tables,
}: HeartbeatOptions<Kind>) => {
  const kinds = Object.keys(tables) as Kind[];
  const claimed = Object.values<ClaimedTable>(tables);
  const anyDue = ({ table, isOpen, isAnyDue }: ClaimedTable): string =>
    isAnyDue ?? `exists (select from ${table} where ${isOpen} and worker is null and due_at <= now())`;
  const due = kinds.map((kind) => `${anyDue(tables[kind])} as ${kind}`).join(', ');
  const stillClaimed = claimed
    .map(({ table, isOpen }) => `select worker from ${table} where ${isOpen} and worker is not null`)
    .join(' union ');
  return {
    /**
     * Reports that the worker is alive for another lease, and makes the work of workers that did not report in time due
     * again: `recovered` rows. The same statement looks for work, so that an idle worker asks the database for nothing
     * else: `due` names the kinds of which some, of any worker, is due now. Call it several times in a lease.
     */
    beat: async (): Promise<{ recovered: number; due: Record<Kind, boolean> }> => {
      // A worker that was late itself does not end the claims of others: the database may have been unavailable for all.
      const [row] = await sql<[Record<Kind | 'isAnyDead', boolean>]>`
        with alive as (
          insert into workers as w (id, alive_until) values (${worker}, now() + ${leaseMs} * interval '1 ms')
          on conflict (id) do update set alive_until = excluded.alive_until
          returning coalesce(old.alive_until < now(), false) as was_late)
        select not was_late and exists (select from workers where alive_until < now() and id <> ${worker})
            as "isAnyDead",
          ${sql.unsafe(due)}
        from alive`;
      const { isAnyDead, ...now } = row;
      if (!isAnyDead) return { recovered: 0, due: now as Record<Kind, boolean> };
      const isDead = sql`alive_until < now() and id <> ${worker}`;
      let recovered = 0;
      // Passes over rows that are locked, because a worker that waits for them would be late with its own next report.
      // They are left to a later one: a dead worker is removed only when it has no rows any more.
      for (const { table, isOpen, afterDeath } of claimed) {
        const { count } = await sql`
          update ${sql(table)} set worker = null, due_at = now() ${sql.unsafe(afterDeath === undefined ? '' : `, ${afterDeath}`)}
          where ctid = any(array(
            select ctid from ${sql(table)} where ${sql.unsafe(isOpen)}
              and worker = any(array(select id from workers where ${isDead})) for update skip locked))`;
        recovered += count;
      }
      await sql`delete from workers where ${isDead} and id <> all(array(${sql.unsafe(stillClaimed)}))`;
      return {
        recovered,
        due: Object.fromEntries(kinds.map((kind) => [kind, true])) as Record<Kind, boolean>,
      };
    },
    /** Removes the worker, which has stopped. What it has not given back is due again. */
    remove: async (): Promise<void> => {
      await sql.begin(async (tx) => {
        for (const { table, isOpen } of claimed)
          await tx`
            update ${tx(table)} set worker = null, due_at = now() where ${tx.unsafe(isOpen)} and worker = ${worker}`;
        await tx`delete from workers where id = ${worker}`;
      });
    },
  };
};
