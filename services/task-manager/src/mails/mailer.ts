import { createOutbox } from '@platform/mail/outbox';
import { startBackground } from '@platform/service-kit/background';
import { createHeartbeat } from '@platform/service-kit/heartbeat';
import { createReading } from '@platform/service-kit/reading';
import { Gauge } from '@prometheus-io/client';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../context.ts';
import { renderMail } from './render-mail.ts';
import { finishMail, oldestMailSeconds, readMail } from './queries.ts';

/** A worker without a heartbeat for this long counts as dead, and other workers send its mails. */
const leaseMs = 5000;
const beatMs = 1000;
/** Due mails wake the task; this is the longest delay of a mail whose wake-up was missed. */
const idleMs = 60_000;
/** Hours until a mail fails for good, and the first pause between attempts. The code in a mail may expire earlier. */
const retry = { hours: 24, baseMs: 1000 };

/** Sends the mails of the outbox until disposed. Undefined without a mail server. */
export const startMailer = (context: Context): AsyncDisposable | undefined => {
  const { env, log, metrics, database, mails } = context;
  if (mails === undefined) return undefined;
  const { sql } = database;
  const readOldest = createReading(metrics.registry, 'mails', () => oldestMailSeconds(sql));
  new Gauge({
    name: 'tasks_oldest_mail_seconds',
    help: 'Age in seconds of the oldest mail that waits to be sent; 0 if none waits',
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
      log.warn({ err, mail: key, attempts }, 'could not send a mail');
      return 'retry';
    },
    onRoom: () => sending.wake(),
    compose: async (row) => {
      const mail = await readMail(sql, row);
      // The account was erased in between.
      if (mail === undefined) return { record: () => Promise.resolve() };
      const { recipient: to, kind, isWanted } = mail;
      if (!isWanted) return { record: () => finishMail(sql, row, 'unwanted') };
      const codeAndPage = mails.codeAndPageOf(mail, { parentId: row.owner, id: row.key });
      const content = renderMail({ ...mail, kind, ...codeAndPage });
      return {
        mail: { to, messageId: `<${row.key}@task-manager>`, ...content },
        record: () => finishMail(sql, row, 'sent'),
      };
    },
  });
  const stack = new AsyncDisposableStack();
  // If the database is unavailable, other instances take over the mails when the heartbeats are missing.
  stack.defer(() => heartbeat.remove().catch(() => undefined));
  stack.use(
    startBackground({
      name: 'heartbeat',
      everyMs: beatMs,
      log,
      run: async () => {
        const { due } = await heartbeat.beat();
        await outbox.retryRecords();
        if (due.has('mails')) sending.wake();
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
      run: async () => heartbeat.isAlive() && outbox.startNext(),
    }),
  );
  return stack;
};
