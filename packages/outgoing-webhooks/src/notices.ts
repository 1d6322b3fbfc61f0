import { createHmac } from 'node:crypto';
import { createSender, type Mail } from '@platform/mail/outbox';
import { startBackground } from '@platform/service-kit/background';
import { backoff, attemptsWithin } from '@platform/service-kit/backoff';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';

/** A disabled subscription, and the lease on the mail about it. */
interface Notice {
  id: string;
  subject: string;
  contact: string;
  url: string;
  state: string;
  reason: keyof typeof reasons;
  attempts: number;
  /** When the lease expires and another attempt may start. */
  leasedUntil: string;
  day: string;
}

/** Maximum number of mails per day to one mailbox and for one subject, even if the subject creates subscriptions repeatedly. */
const [maxPerMailbox, maxPerSubject] = [5, 20];
const retryBaseMs = 60_000;
const maxAttempts = attemptsWithin(24, retryBaseMs);

const reasons = {
  failures: 'all attempts of five days have failed.',
  gone: 'the address answered "Gone" (410).',
  rights: 'its creator may no longer read its lists.',
  expired: 'the changes that it missed were deleted. It can continue with later changes.',
};

/** The mail about a subscription. Of the text that its creator entered, it contains only the host name. */
const mailOf = (service: string, { id, contact, url, reason, day }: Notice): Mail => {
  const { host } = new URL(url);
  const path = `/v1/feeds/${service}/subscriptions/${id}`;
  const lines = [
    `The subscription ${id} of ${service} is disabled: ${reasons[reason]}`,
    `GET ${path}/attempts shows the requests to ${host} and its answers.`,
    `To continue, fix the cause and send PATCH ${path} with {"state": "active"}.`,
  ];
  return {
    to: contact,
    subject: `A subscription of ${service} is disabled`,
    text: `${lines.join('\n\n')}\n`,
    messageId: `<${id}.${day}@${service}>`,
  };
};

const claim = async (sql: Sql): Promise<Notice | undefined> => {
  const [row] = await sql<Notice[]>`
    update subscriptions set notice_attempts = notice_attempts + 1, noticed_at = now(),
      notice_due_at = now() + ${retryBaseMs} * interval '1 ms'
    where id = any (array(
      select id from subscriptions where notice_due_at <= now() and contact is not null
      order by notice_due_at limit 1 for update skip locked))
    returning id, subject, contact, url, state, state_reason as reason, notice_attempts as attempts, notice_due_at::text as "leasedUntil",
      current_date::text as day`;
  return row;
};

/** Ends the lease for good, or schedules a retry after a pause. Has no effect if the subscription was disabled again. */
const endLease = (sql: Sql, { id, leasedUntil }: Notice, pauseMs?: number): Promise<unknown> => sql`
  update subscriptions set notice_due_at = now() + ${pauseMs ?? null} * interval '1 ms',
    notice_attempts = ${pauseMs === undefined ? sql`0` : sql`notice_attempts`}
  where id = ${id} and notice_due_at = ${leasedUntil}`;

/** Counts a mail. Returns false if its mailbox or the subject of the subscription has reached the limit of today. */
const isAllowed = async (sql: Sql, key: string, { contact, subject }: Notice): Promise<boolean> => {
  const [name = '', host = ''] = contact.toLowerCase().split('@');
  const [mailbox] = name.split('+', 1);
  const limits = [
    [`subject ${subject}`, maxPerSubject],
    [`contact ${mailbox}@${host}`, maxPerMailbox],
  ] as const;
  for (const [party, max] of limits) {
    const hash = createHmac('sha256', key).update(party).digest();
    const { count } = await sql`
      insert into subscription_notices as n values (${hash}, current_date, 1)
      on conflict (party, day) do update set mails = n.mails + 1 where n.mails < ${max}`;
    if (count === 0) return false;
  }
  return true;
};

interface NoticeOptions {
  sql: Sql;
  log: Log;
  service: string;
  /** Key of the hashes of addresses. */
  key: string;
  url: string;
  from: string;
}

/** Mails the contacts of disabled subscriptions until disposed of. Any number of instances may run it. */
export const startNotices = ({ sql, log, service, key, url, from }: NoticeOptions) => {
  const sender = createSender({ url, from, connections: 1 });
  const run = async (): Promise<boolean> => {
    const notice = await claim(sql);
    if (notice === undefined) return false;
    const { id, state, attempts } = notice;
    const isWanted = state === 'disabled' && (attempts > 1 || (await isAllowed(sql, key, notice)));
    try {
      if (isWanted) await sender.send(mailOf(service, notice));
      await endLease(sql, notice);
    } catch (err) {
      log.warn({ err, subscription: id, attempts }, 'the mail about a disabled subscription was not sent');
      await endLease(sql, notice, attempts < maxAttempts ? backoff(attempts, retryBaseMs) : undefined);
    }
    return true;
  };
  const background = startBackground({
    name: 'mails about subscriptions',
    everyMs: 1000,
    idleMs: 10_000,
    log,
    run,
  });
  return {
    /** Call it when a subscription may have been disabled. */
    hint: background.hint,
    [Symbol.asyncDispose]: async () => {
      await background[Symbol.asyncDispose]();
      sender.close();
    },
  };
};
