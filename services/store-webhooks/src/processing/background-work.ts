import { setTimeout as sleep } from 'node:timers/promises';
import { startBackground } from '@platform/service-kit/background';
import type { LeaseOptions } from '@platform/service-kit/leased-work';
import type { Context } from '../context.ts';
import { finalState, Stopped } from '../errors.ts';
import { createImporter } from '../records/import-jobs.ts';
import { createMailer } from '../notifications/mailer.ts';
import { forgetOutcomes } from '../payments/use-cases.ts';
import { createEventWorker } from './event-worker.ts';
import { createPruning } from '../retention.ts';

const housekeepingMs = 60_000;
/** Due work wakes its task. This bounds the delay of work whose wake-up was missed. */
const idleMs = 60_000;
/** How often a worker writes its heartbeat within one lease. Without any in a lease it counts as dead. */
const beatsInLease = 4;
/** The part of SHUTDOWN_TIMEOUT_MS in which mails that are being sent may end. */
const mailPart = 1 / 3;
/** Pruning rests this many times as long as the last step took, but at most `maxRestMs`. */
const restFactor = 9;
const maxRestMs = 1000;

/**
 * Starts the background tasks: events, imports, mails, housekeeping. Disposal interrupts what waits for a provider, gives
 * it back, and waits for the rest.
 */
export const startWork = (context: Context): AsyncDisposable => {
  const { env, log, database, inbox, tracker } = context;
  const { sql } = database;
  const stack = new AsyncDisposableStack();
  const start = (name: string, everyMs: number, run: () => Promise<boolean | void>) =>
    stack.use(startBackground({ name, everyMs, idleMs, log, run }));
  const eventWorker = createEventWorker(context, () => events.wake());
  const { worker } = eventWorker.claimer;
  const leases = (event: string, onRoom: () => void): LeaseOptions => ({
    sql,
    log,
    worker,
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
  // Gives back what is still in work. Without the database, other workers take it when the heartbeats are missing.
  stack.defer(() => eventWorker.remove().catch(() => undefined));
  // Nothing is claimed before: claims of a worker that never reported would be kept if it died.
  let isAlive = false;
  start('heartbeat', Math.min(env.LEASE_MS / beatsInLease, env.IDLE_POLL_MS), async () => {
    const due = await eventWorker.beat();
    isAlive = true;
    await importing.retryRecords();
    await mailer?.retryRecords();
    if (due.events) events.wake();
    if (due.imports) imports.wake();
    if (due.mails) mails?.wake();
  });
  stack.defer(async () => {
    // What waits for a provider is given back. A mail is not interrupted while there is time: it may have arrived.
    context.stopping.abort();
    const mailsSent = Promise.race([
      mailer?.untilIdle(),
      sleep(env.SHUTDOWN_TIMEOUT_MS * mailPart, null, { ref: false }),
    ]);
    await Promise.all([eventWorker.idle(), importing.untilIdle(), mailsSent]);
    mailer?.close();
  });
  const events = start('events', env.IDLE_POLL_MS, eventWorker.round);
  const imports = start('imports', env.IDLE_POLL_MS, async () => isAlive && importing.startNext());
  const mails = mailer && start('mails', env.IDLE_POLL_MS, async () => isAlive && mailer.startNext());
  start('housekeeping', housekeepingMs, () => forgetOutcomes(context));
  const prune = createPruning(sql, env);
  start('pruning', housekeepingMs, async () => {
    const begun = performance.now();
    const more = await prune();
    if (more) await sleep(Math.min((performance.now() - begun) * restFactor, maxRestMs));
    return more;
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
