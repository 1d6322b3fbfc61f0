import { createHmac } from 'node:crypto';
import { createSender, type Mail } from '@platform/mail/outbox';
import { startBackground } from '@platform/service-kit/background';
import { backoff, attemptsWithin } from '@platform/service-kit/backoff';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';

/** A subscription that was disabled, and the claim on the mail that says so. */
interface Notice {
  id: string;
  subject: string;
  contact: string;
  url: string;
  state: string;
  reason: keyof typeof reasons;
  attempts: number;
  /** When it is tried again, should this attempt not end. */
  until: string;
  day: string;
}

/** Mails to one mailbox and of one maker in a day: who makes subscriptions again and again sends no more. */
const [toMailbox, ofSubject] = [5, 20];
const retryBaseMs = 60_000;
const mostAttempts = attemptsWithin(24, retryBaseMs);

const reasons = {
  failures: 'every attempt of five days has failed.',
  gone: 'the address has answered that it wants nothing more (410).',
  rights: 'whoever made it may not read its lists any more.',
  expired: 'what it has missed is no longer kept. It can continue with later changes.',
};

/** The mail about a subscription. Of what its maker has entered it has the host alone. */
const mailOf = (service: string, { id, contact, url, reason, day }: Notice): Mail => {
  const { host } = new URL(url);
  const path = `/v1/feeds/${service}/subscriptions/${id}`;
  const lines = [
    `The subscription ${id} of ${service} is disabled: ${reasons[reason]}`,
    `GET ${path}/attempts shows what was sent to ${host} and how it answered.`,
    `Once that is mended, PATCH ${path} with {"state": "active"} continues.`,
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
    returning id, subject, contact, url, state, state_reason as reason, notice_attempts as attempts, notice_due_at::text as until,
      current_date::text as day`;
  return row;
};

/** Ends the claim: for good, or until it is tried again after a pause. Not if the subscription was disabled again meanwhile. */
const settle = (sql: Sql, { id, until }: Notice, pauseMs?: number): Promise<unknown> => sql`
  update subscriptions set notice_due_at = now() + ${pauseMs ?? null} * interval '1 ms',
    notice_attempts = ${pauseMs === undefined ? sql`0` : sql`notice_attempts`}
  where id = ${id} and notice_due_at = ${until}`;

/** Counts a mail; false where its mailbox or the maker of the subscription has had its share today. */
const isAllowed = async (sql: Sql, key: string, { contact, subject }: Notice): Promise<boolean> => {
  const [name = '', host = ''] = contact.toLowerCase().split('@');
  const [mailbox] = name.split('+', 1);
  const shares = [
    [`subject ${subject}`, ofSubject],
    [`contact ${mailbox}@${host}`, toMailbox],
  ] as const;
  for (const [party, most] of shares) {
    const hash = createHmac('sha256', key).update(party).digest();
    const { count } = await sql`
      insert into subscription_notices as n values (${hash}, current_date, 1)
      on conflict (party, day) do update set mails = n.mails + 1 where n.mails < ${most}`;
    if (count === 0) return false;
  }
  return true;
};

interface NoticeOptions {
  sql: Sql;
  log: Log;
  service: string;
  /** Hashes of addresses are made with it. */
  key: string;
  url: string;
  from: string;
}

/** Mails the contacts of subscriptions that were disabled, until disposed of. Any number of instances may do so. */
export const startNotices = ({ sql, log, service, key, url, from }: NoticeOptions) => {
  const sender = createSender({ url, from, connections: 1 });
  const run = async (): Promise<boolean> => {
    const notice = await claim(sql);
    if (notice === undefined) return false;
    const { id, state, attempts } = notice;
    const isWanted = state === 'disabled' && (attempts > 1 || (await isAllowed(sql, key, notice)));
    try {
      if (isWanted) await sender.send(mailOf(service, notice));
      await settle(sql, notice);
    } catch (err) {
      log.warn({ err, subscription: id, attempts }, 'a mail about a subscription was not sent');
      await settle(sql, notice, attempts < mostAttempts ? backoff(attempts, retryBaseMs) : undefined);
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
    /** One may have been disabled. */
    hint: background.hint,
    [Symbol.asyncDispose]: async () => {
      await background[Symbol.asyncDispose]();
      sender.close();
    },
  };
};
