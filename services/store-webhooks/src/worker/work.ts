import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { prune } from '../inbox/prune.ts';
import { importOne } from '../members/import.ts';
import { createMailer } from '../notifications/mailer.ts';
import { forgetOutcomes } from '../payments/store.ts';
import { keepOutcomeMs } from '../payments/domain.ts';
import { startLoop } from './loop.ts';
import { createProcessing } from './process.ts';

const housekeepingMs = 60_000;
/** Pruning rests this many times as long as it worked, so that it takes a tenth of one connection at most. */
const restFactor = 9;
const maxRestMs = 1000;

/**
 * Everything that happens behind the answers: events, imports, mails, housekeeping. Disposal lets
 * what is under way finish.
 */
export const startWork = (context: Context): AsyncDisposable => {
  const { env, log, database, now, onWork } = context;
  const stack = new AsyncDisposableStack();
  const processing = createProcessing(context);
  stack.defer(() => processing.idle());
  const events = stack.use(startLoop('events', env.IDLE_POLL_MS, log, processing.round));
  const imports = stack.use(startLoop('imports', env.IDLE_POLL_MS, log, () => importOne(context)));
  const mailer = createMailer(context);
  if (mailer !== undefined) {
    stack.defer(() => mailer.close());
    stack.use(startLoop('mails', env.IDLE_POLL_MS, log, mailer.sendOne));
  }
  stack.use(
    startLoop('housekeeping', housekeepingMs, log, async () => {
      await forgetOutcomes(database.sql, new Date(now().getTime() - keepOutcomeMs));
      return false;
    }),
  );
  stack.use(
    startLoop('pruning', housekeepingMs, log, async () => {
      const start = performance.now();
      const more = await prune(
        database.sql,
        new Date(now().getTime() - env.INBOX_RETENTION_DAYS * 86_400_000),
      );
      if (more) await sleep(Math.min((performance.now() - start) * restFactor, maxRestMs));
      return more;
    }),
  );
  onWork.wake = () => {
    events.wake();
    imports.wake();
  };
  stack.defer(() => {
    onWork.wake = () => undefined;
  });
  return stack;
};
