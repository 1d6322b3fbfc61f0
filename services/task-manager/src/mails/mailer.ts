import { createOutbox } from '@platform/mail/outbox';
import { startBackground } from '@platform/service-kit/background';
import { createHeartbeat } from '@platform/service-kit/heartbeat';
import { createReading } from '@platform/service-kit/reading';
import { Gauge } from '@prometheus-io/client';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../context.ts';
import { write } from './letters.ts';
import { endMail, oldestMailSeconds, readMail } from './queries.ts';

/** Without a heartbeat for this long a worker counts as dead, and its mails are sent by others. */
const leaseMs = 5000;
const beatMs = 1000;
/** Due mails wake the task; this bounds the delay of one whose wake-up was missed. */
const idleMs = 60_000;
/** How long a mail server is tried, and the first pause. The codes in mails may be void earlier. */
const retry = { hours: 24, baseMs: 1000 };

/** Sends the mails of the outbox until disposed of; undefined without a mail server. */
export const startMailer = (context: Context): AsyncDisposable | undefined => {
  const { env, log, metrics, database, mails } = context;
  if (mails === undefined) return undefined;
  const { sql } = database;
  const readOldest = createReading(metrics.registry, 'mails', () => oldestMailSeconds(sql));
  new Gauge({
    name: 'tasks_oldest_mail_seconds',
    help: 'For how long the oldest mail has been waiting to be sent; 0 if none waits',
    registers: [metrics.registry],
    async collect() {
      this.set((await readOldest()) ?? Number.NaN);
    },
  });
  const worker = uuidv7();
  const tables = { mails: { table: 'mails', isOpen: "state = 'pending'" } };
  const heartbeat = createHeartbeat({ sql, worker, leaseMs, tables });
  const outbox = createOutbox({
    sql,
    log,
    worker,
    retry,
    url: mails.url,
    from: env.SMTP_FROM,
    table: 'mails',
    owner: 'owner',
    key: 'id',
    state: 'state',
    onFailure: (err, { key, attempts }) => {
      log.warn({ err, mail: key, attempts }, 'a mail was not sent');
      return 'retry';
    },
    onRoom: () => sending.wake(),
    compose: async (row) => {
      const mail = await readMail(sql, row);
      if (mail === undefined) return { record: () => Promise.resolve() };
      const { recipient: to, kind, isWanted } = mail;
      if (!isWanted) return { record: () => endMail(sql, row, 'unwanted') };
      const secret = mails.secretOf(mail, { owner: row.owner, id: row.key });
      const content = write({ ...mail, kind, ...secret });
      return {
        mail: { to, messageId: `<${row.key}@task-manager>`, ...content },
        record: () => endMail(sql, row, 'sent'),
      };
    },
  });
  const stack = new AsyncDisposableStack();
  // Without the database, other instances take the mails over when the heartbeats are missing.
  stack.defer(() => heartbeat.remove().catch(() => undefined));
  // Nothing is claimed before: claims of a worker that never reported would be kept if it died.
  let isAlive = false;
  stack.use(
    startBackground({
      name: 'heartbeat',
      everyMs: beatMs,
      idleMs: beatMs,
      log,
      run: async () => {
        const { due } = await heartbeat.beat();
        isAlive = true;
        await outbox.retryRecords();
        if (due.mails) sending.wake();
      },
    }),
  );
  stack.defer(async () => {
    await outbox.untilIdle();
    outbox.close();
  });
  const sending = stack.use(
    startBackground({
      name: 'mails',
      everyMs: beatMs,
      idleMs,
      log,
      run: async () => isAlive && outbox.startNext(),
    }),
  );
  return stack;
};
