import type { Sql } from 'postgres';

/** A table of work that workers claim; it has the columns `worker` and `due_at`. All strings are the service's own SQL, never input. */
export interface ClaimedTable {
  table: string;
  /** Condition: the work of the row is not finished. */
  isOpen: string;
  /** Expression: whether any row is due. Default: a row is due if it is open, unclaimed and past `due_at`. */
  isAnyDue?: string;
  /** Additional assignments for rows whose worker has died. */
  afterDeath?: string;
}

interface HeartbeatOptions<Kind extends string> {
  sql: Sql;
  /** Id of this worker. */
  worker: string;
  /** How long a worker counts as alive after its last report. */
  leaseMs: number;
  /** The table of each kind of work. */
  tables: Readonly<Record<Kind, ClaimedTable>>;
}

export type Heartbeat<Kind extends string> = ReturnType<typeof createHeartbeat<Kind>>;

/**
 * Reports in the table `workers` (`id`, `alive_until`) that this worker is alive, and releases the rows of workers that have
 * died, so that other workers take them over.
 */
export const createHeartbeat = <Kind extends string>({
  sql,
  worker,
  leaseMs,
  tables,
}: HeartbeatOptions<Kind>) => {
  const kinds = Object.keys(tables) as Kind[];
  const claimedTables = Object.values<ClaimedTable>(tables);
  const anyDue = ({ table, isOpen, isAnyDue }: ClaimedTable): string =>
    isAnyDue ?? `exists (select from ${table} where ${isOpen} and worker is null and due_at <= now())`;
  const due = kinds.map((kind) => `${anyDue(tables[kind])} as ${kind}`).join(', ');
  const stillClaimed = claimedTables
    .map(({ table, isOpen }) => `select worker from ${table} where ${isOpen} and worker is not null`)
    .join(' union ');
  let isAlive = false;
  return {
    /** Whether a heartbeat was stored. Claim nothing before: if the worker died without one, nothing would release its claims. */
    isAlive: (): boolean => isAlive,
    /**
     * Reports that this worker is alive for another lease, and makes the rows of workers that did not report in time due again.
     * Returns their number (`recovered`) and the kinds of work that have due rows (`due`). The same statement finds that out, so
     * that an idle worker sends no other query. Call it several times per lease.
     */
    beat: async (): Promise<{ recovered: number; due: Set<Kind> }> => {
      // A worker that is late itself does not release the rows of others: the database may have been unavailable for all.
      const [row] = await sql<[Record<Kind | 'isAnyDead', boolean>]>`
        with alive as (
          insert into workers as w (id, alive_until) values (${worker}, now() + ${leaseMs} * interval '1 ms')
          on conflict (id) do update set alive_until = excluded.alive_until
          returning coalesce(old.alive_until < now(), false) as was_late)
        select not was_late and exists (select from workers where alive_until < now() and id <> ${worker})
            as "isAnyDead",
          ${sql.unsafe(due)}
        from alive`;
      isAlive = true;
      if (!row.isAnyDead) return { recovered: 0, due: new Set(kinds.filter((kind) => row[kind])) };
      const isDead = sql`alive_until < now() and id <> ${worker}`;
      let recovered = 0;
      // Skips locked rows, because a worker that waits for them would be late with its own next report. A later call releases
      // them: a dead worker is removed only when it has no more rows.
      for (const { table, isOpen, afterDeath } of claimedTables) {
        const { count } = await sql`
          update ${sql(table)} set worker = null, due_at = now() ${sql.unsafe(afterDeath === undefined ? '' : `, ${afterDeath}`)}
          where ctid = any(array(
            select ctid from ${sql(table)} where ${sql.unsafe(isOpen)}
              and worker = any(array(select id from workers where ${isDead})) for update skip locked))`;
        recovered += count;
      }
      await sql`delete from workers where ${isDead} and id <> all(array(${sql.unsafe(stillClaimed)}))`;
      // The released rows are due; which kinds have some is not worth another query.
      return { recovered, due: new Set(kinds) };
    },
    /** Removes this worker when it stops, and makes the rows it still has due again. */
    remove: async (): Promise<void> => {
      await sql.begin(async (tx) => {
        for (const { table, isOpen } of claimedTables)
          await tx`
            update ${tx(table)} set worker = null, due_at = now() where ${tx.unsafe(isOpen)} and worker = ${worker}`;
        await tx`delete from workers where id = ${worker}`;
      });
    },
  };
};
