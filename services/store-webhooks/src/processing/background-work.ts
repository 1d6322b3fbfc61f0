import { setTimeout as sleep } from 'node:timers/promises';
import { startBackground } from '@platform/service-kit/background';
import type { LeaseOptions } from '@platform/service-kit/leased-work';
import type { Context } from '../context.ts';
import { finalState, Stopped } from '../errors.ts';
import { createImporter } from '../records/import-jobs.ts';
import { createMailer } from '../notifications/mailer.ts';
import { deleteExpiredOutcomes } from '../payments/use-cases.ts';
import { createEventWorker } from './event-worker.ts';
import { createPruning } from '../retention.ts';

const housekeepingMs = 60_000;
/** Maximum pause of a task. Due work wakes its task earlier; this limits the delay if a wake-up was missed. */
const idleMs = 60_000;
/** Heartbeats per lease. A worker without a heartbeat for a whole lease counts as dead. */
const beatsPerLease = 4;
/** Share of SHUTDOWN_TIMEOUT_MS that mails in progress get to finish. */
const mailShare = 1 / 3;
/** Pruning pauses this many times as long as its last step took, but at most `maxPauseMs`. */
const pauseFactor = 9;
const maxPauseMs = 1000;

/**
 * Starts the background tasks: events, imports, mails, housekeeping. Disposal interrupts work that waits for a provider, returns
 * it to the queue, and waits for all other work.
 */
export const startBackgroundWork = (context: Context): AsyncDisposable => {
  const { env, log, database, inbox, tracker } = context;
  const { sql } = database;
  const stack = new AsyncDisposableStack();
  const start = (name: string, everyMs: number, run: () => Promise<boolean | void>) =>
    stack.use(startBackground({ name, everyMs, idleMs, log, run }));
  const eventWorker = createEventWorker(context, () => events.wake());
  const { claimer, isAlive } = eventWorker;
  const leases = (event: string, onRoom: () => void): LeaseOptions => ({
    sql,
    log,
    worker: claimer.worker,
    retry: { hours: env.RETRY_FOR_HOURS, baseMs: env.RETRY_BASE_MS },
    onFailure: (error, { owner: storeId, attempts: attempt }) => {
      if (error instanceof Stopped) return 'interrupted';
      tracker.capture(error, { storeId, event, attempt });
      return finalState(error) === 'failed' ? 'final' : 'retry';
    },
    onRoom,
  });
  const importing = createImporter(
    context,
    leases('import', () => imports.wake()),
  );
  const mailer = createMailer(
    env,
    context.redis,
    leases('notification', () => mails?.wake()),
  );
  // Releases unfinished work. If the database is unavailable, other workers take the work over when heartbeats are missing.
  stack.defer(() => eventWorker.remove().catch(() => undefined));
  start('heartbeat', Math.min(env.LEASE_MS / beatsPerLease, env.IDLE_POLL_MS), async () => {
    const due = await eventWorker.beat();
    await importing.retryRecords();
    await mailer?.retryRecords();
    if (due.has('events')) events.wake();
    if (due.has('imports')) imports.wake();
    if (due.has('mails')) mails?.wake();
  });
  stack.defer(async () => {
    // Work that waits for a provider returns to the queue. Mails get time to finish, because an interrupted one may have arrived.
    context.stopping.abort();
    const mailsSent = Promise.race([
      mailer?.untilIdle(),
      sleep(env.SHUTDOWN_TIMEOUT_MS * mailShare, null, { ref: false }),
    ]);
    await Promise.all([eventWorker.idle(), importing.untilIdle(), mailsSent]);
    mailer?.close();
  });
  const events = start('events', env.IDLE_POLL_MS, eventWorker.round);
  const imports = start('imports', env.IDLE_POLL_MS, async () => isAlive() && importing.startNext());
  const mails = mailer && start('mails', env.IDLE_POLL_MS, async () => isAlive() && mailer.startNext());
  start('housekeeping', housekeepingMs, () => deleteExpiredOutcomes(context));
  const prune = createPruning(sql, env);
  start('pruning', housekeepingMs, async () => {
    const startedAt = performance.now();
    const hasMore = await prune();
    if (hasMore) await sleep(Math.min((performance.now() - startedAt) * pauseFactor, maxPauseMs));
    return hasMore;
  });
  stack.use(
    inbox.attach({
      ...eventWorker,
      wake: () => {
        events.wake();
        imports.wake();
      },
    }),
  );
  return stack;
};
