import { createHeartbeat } from '@platform/service-kit/heartbeat';
import type { Sql } from 'postgres';

/** The work that a worker claims. */
const tables = {
  events: {
    table: 'queue',
    isOpen: 'true',
    // Two conditions, as there are two indexes.
    isAnyDue: `exists (select from queue where due_at <= now() and crashes <= 2)
      or exists (select from queue where due_at <= now() and crashes > 2)`,
    afterDeath: 'crashes = crashes + 1',
  },
  mails: { table: 'notifications', isOpen: "mail = 'pending'" },
  imports: { table: 'import_jobs', isOpen: "state = 'pending'" },
};

/** The heartbeat of a worker; each death counts a crash for the events that the worker had. */
export const heartbeatOf = (sql: Sql, worker: string, leaseMs: number) =>
  createHeartbeat({ sql, worker, leaseMs, tables });
