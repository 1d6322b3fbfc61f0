import { Gauge } from 'prom-client';
import type { Context } from './context.ts';

/** Gauges of the spool and of the inbox, read when Prometheus asks. */
export const addWaitingMetrics = (context: Context): void => {
  const { metrics, inbox, bodyMemory, database, env } = context;
  const { registry } = metrics;
  new Gauge({
    name: 'webhooks_body_bytes',
    help: 'Bytes reserved for webhook bodies that are not stored yet; at most BODY_MEMORY_BYTES',
    registers: [registry],
    collect() {
      this.set(bodyMemory.bytes);
    },
  });
  new Gauge({
    name: 'webhooks_spool_bytes',
    help: 'Bytes of events that wait on disk for the database',
    registers: [registry],
    collect() {
      this.set(inbox.spool.bytes);
    },
  });
  new Gauge({
    name: 'webhooks_spool_free_ratio',
    help: 'Share of SPOOL_MAX_BYTES that the spool can still take, limited by the disk too; NaN if it has no folder',
    registers: [registry],
    async collect() {
      this.set(
        await inbox.spool.free().then(
          (free) => free / env.SPOOL_MAX_BYTES,
          () => Number.NaN,
        ),
      );
    },
  });
  new Gauge({
    name: 'webhooks_pending',
    help: 'Events in the inbox that are still to be processed; NaN while the database is away',
    registers: [registry],
    async collect() {
      const [row] = await database.sql<{ count: number }[]>`
        select count(*)::int as count from queue`.catch(() => []);
      this.set(row?.count ?? Number.NaN);
    },
  });
};
