import { createReading } from '@platform/service-kit/reading';
import { Gauge } from '@prometheus-io/client';
import type { Context } from './context.ts';
import type { ResultState } from './db/tables.ts';
import { countMails } from './notifications/mailer.ts';
import { countEndedInLastDay, countPending, countStoresWithManyTests } from './inbox/count-events.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Registers gauges of the spool, the inbox and the mails, read at each scrape. Gauges from the database keep their last value
 * while it is unavailable.
 */
export const registerGauges = (context: Context): void => {
  const { metrics, inbox, rotations, bodyBudget, database, env, now } = context;
  const { sql } = database;
  const gauge = (
    name: string,
    help: string,
    read: () => number | undefined | Promise<number | undefined>,
  ): Gauge =>
    new Gauge({
      name,
      help,
      registers: [metrics.registry],
      async collect() {
        // A gauge that cannot be read must not keep the others from being scraped.
        this.set((await (async () => read())().catch(() => undefined)) ?? Number.NaN);
      },
    });
  const readQueue = createReading(metrics.registry, 'queue', () => countPending(sql));
  const readMails = createReading(metrics.registry, 'mails', () => countMails(sql));
  const readEnded = (state: ResultState) =>
    // An event may fail only after RETRY_FOR_HOURS of retries; one more day allows for waits and outages.
    createReading(metrics.registry, state, () =>
      countEndedInLastDay(sql, state, now(), dayMs + env.RETRY_FOR_HOURS * hourMs),
    );

  gauge(
    'webhooks_body_bytes',
    'Bytes of bodies above 4 KiB whose requests are not answered yet; at most BODY_MEMORY_BYTES',
    () => bodyBudget.bytes,
  );
  gauge(
    'webhooks_spool_bytes',
    'Bytes of events that wait on disk for the database',
    () => inbox.spool.bytes,
  );
  gauge(
    'webhooks_spool_free_ratio',
    'Share of SPOOL_MAX_BYTES that is still free, also limited by the disk; NaN if the spool has no folder',
    async () => (await inbox.spool.free()) / env.SPOOL_MAX_BYTES,
  );
  gauge(
    'webhooks_spool_damaged_files',
    'Damaged files of the spool that were quarantined and not removed yet',
    () => inbox.spool.damagedFiles(),
  );
  gauge(
    'webhooks_replaced_tokens_accepted_seconds',
    'How long this instance may still accept tokens that were replaced without its knowledge; 0 while it reaches the database or Redis',
    () => rotations.replacedAcceptedForMs() / 1000,
  );
  gauge(
    'webhooks_pending',
    'Events in the inbox that are still to be processed; estimated above 10,000',
    async () => (await readQueue())?.count,
  );
  gauge(
    'webhooks_oldest_pending_seconds',
    'How long the oldest event has been waiting to be processed; 0 if none waits',
    async () => (await readQueue())?.seconds,
  );
  gauge(
    'webhooks_failed',
    'Events that failed in the last 24 hours and were not processed later',
    readEnded('failed'),
  );
  gauge('webhooks_refused', 'Events of the last 24 hours whose signature is not valid', readEnded('refused'));
  gauge(
    'webhooks_stores_with_many_tests',
    'Stores whose POS sent many test events in the last 24 hours; their mapping may not fit its events',
    createReading(metrics.registry, 'tests', () =>
      countStoresWithManyTests(sql, new Date(now().getTime() - dayMs)),
    ),
  );
  gauge('webhooks_mails_pending', 'Mails that are still to be sent', async () => (await readMails())?.count);
  gauge(
    'webhooks_oldest_mail_seconds',
    'How long the oldest mail has been waiting to be sent; 0 if none waits',
    async () => (await readMails())?.seconds,
  );
};
