import { setTimeout as sleep } from 'node:timers/promises';
import { startBackground } from '@platform/service-kit/background';
import { safeError } from '../tracker/failure.ts';
import type { Context } from '../context.ts';
import { createPruning } from '../inbox/prune.ts';
import { createImporter } from '../records/import-jobs.ts';
import { createMailer } from '../notifications/mailer.ts';
import { forgetOutcomes } from '../payments/store.ts';
import { keepOutcomeMs } from '../payments/domain.ts';
import { createProcessing } from './process.ts';

const housekeepingMs = 60_000;
/** How often a worker writes its heartbeat within one lease. Without any in a lease it counts as dead. */
const beatsInLease = 4;
/** Pruning rests this many times as long as the last step took, but at most `maxRestMs`. */
const restFactor = 9;
const maxRestMs = 1000;

/**
 * Starts the background tasks: events, imports, mails, housekeeping. Disposal waits for the tasks in
 * progress.
 */
export const startWork = (context: Context): AsyncDisposable => {
  const { env, log, database, now, onWork } = context;
  const stack = new AsyncDisposableStack();
  let isStopping = false;
  const start = (name: string, everyMs: number, run: () => Promise<boolean | void>) =>
    stack.use(
      startBackground({
        name,
        everyMs,
        log,
        // The message of a driver or parser may quote a payload, which must not be logged.
        run: () => run().catch((error: unknown) => Promise.reject(safeError(error))),
      }),
    );
  const processing = createProcessing(context);
  stack.defer(() => processing.remove().catch(() => undefined));
  start('heartbeat', env.LEASE_MS / beatsInLease, async () => {
    await processing.beat();
    onWork.worker = isStopping ? undefined : processing;
  });
  stack.defer(() => processing.idle());
  const events = start('events', env.IDLE_POLL_MS, processing.round);
  const imports = start('imports', env.IDLE_POLL_MS, createImporter(context));
  const mailer = createMailer(context);
  if (mailer !== undefined) {
    stack.defer(() => mailer.close());
    start('mails', env.IDLE_POLL_MS, mailer.sendOne);
  }
  start('housekeeping', housekeepingMs, () =>
    forgetOutcomes(database.orm, new Date(now().getTime() - keepOutcomeMs)),
  );
  const prune = createPruning(database.sql, env.INBOX_RETENTION_DAYS * 86_400_000, env.PRUNE_PAUSE_MS);
  start('pruning', housekeepingMs, async () => {
    const begun = performance.now();
    const more = await prune();
    if (more) await sleep(Math.min((performance.now() - begun) * restFactor, maxRestMs));
    return more;
  });
  onWork.wake = () => {
    events.wake();
    imports.wake();
  };
  stack.defer(() => {
    isStopping = true;
    onWork.wake = () => undefined;
    onWork.worker = undefined;
  });
  return stack;
};
