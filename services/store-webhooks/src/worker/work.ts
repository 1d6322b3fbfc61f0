import type { Context } from '../context.ts';
import { prune } from '../inbox/prune.ts';
import { importOne } from '../members/import.ts';
import { createMailer } from '../notifications/mailer.ts';
import { forgetOutcomes } from '../payments/store.ts';
import { keepOutcomeMs } from '../payments/domain.ts';
import { startLoop } from './loop.ts';
import { createProcessing } from './process.ts';

const housekeepingMs = 60_000;

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
      return prune(database.sql, new Date(now().getTime() - env.INBOX_RETENTION_DAYS * 86_400_000));
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
