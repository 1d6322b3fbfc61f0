import { Gauge } from 'prom-client';
import type { Context } from './context.ts';

/** What waits: in the spool, and in the inbox. Looked up when Prometheus asks. */
export const addWaitingMetrics = ({ metrics: { registry }, inbox, database }: Context): void => {
  new Gauge({
    name: 'webhooks_spool_bytes',
    help: 'Bytes of events that wait on disk for the database',
    registers: [registry],
    collect() {
      this.set(inbox.spool.bytes);
    },
  });
  new Gauge({
    name: 'webhooks_pending',
    help: 'Events in the inbox that are still to be processed; NaN while the database is away',
    registers: [registry],
    async collect() {
      const [row] = await database.sql<{ count: number }[]>`
        select count(*)::int as count from inbox where state = 'pending'`.catch(() => []);
      this.set(row?.count ?? Number.NaN);
    },
  });
};
