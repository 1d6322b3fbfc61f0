import { createHeartbeat } from '@platform/service-kit/heartbeat';
import type { Sql } from 'postgres';

/** The tables from which a worker claims work. */
const tables = {
  events: {
    table: 'queue',
    isOpen: 'true',
    // One condition for each of the two partial indexes.
    isAnyDue: `exists (select from queue where due_at <= now() and crashes <= 2)
      or exists (select from queue where due_at <= now() and crashes > 2)`,
    afterDeath: 'crashes = crashes + 1',
  },
  mails: { table: 'notifications', isOpen: "mail = 'pending'" },
  imports: { table: 'import_jobs', isOpen: "state = 'pending'" },
};

/** The heartbeat of a worker. When a worker dies, each event that it had claimed gets one more crash. */
export const heartbeatOf = (sql: Sql, worker: string, leaseMs: number) =>
  createHeartbeat({ sql, worker, leaseMs, tables });
