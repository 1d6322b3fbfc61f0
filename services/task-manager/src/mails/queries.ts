import type { LeasedRow } from '@platform/service-kit/leased-work';
import type { Prunable } from '@platform/service-kit/pruning';
import type { Queries } from '@platform/service-kit/record';
import type { Sql, TransactionSql } from 'postgres';
import { v7 as uuidv7 } from 'uuid';
import type { CodedRow } from '../codes.ts';
import type { Language, MailKind } from './texts/texts.ts';

/** A mail to queue. */
export interface NewMail {
  kind: MailKind;
  /** One email address, in lower case. */
  recipient: string;
  /** The user who invites, or who changes their address. */
  sender?: string | null;
  /** The invitation that the mail contains. */
  invitation?: { listId: string; id: string };
  /** How long the mail may wait to be sent, and how long its code is valid. */
  validSeconds: number;
}

/** Maximum number of mails of one kind to one address per hour, and of invitations of one user per day. */
const maxMails = { ofRecipient: 20, ofSender: 20 };

/**
 * Mails that anybody can request for an address. At most one is queued in three minutes, because a newer mail voids the code of
 * the previous one, which its owner may be about to enter.
 */
const throttledKinds: readonly MailKind[] = ['password_reset', 'email_verification'];

/** Old mails; deleted in the background. Until then they count for the limits. */
export const outdatedMails: Prunable = {
  table: 'mails',
  outdated: "created_at < now() - interval '2 days'",
};

/**
 * Queues a mail, unless the recipient or the sender has reached a limit, a mail of the same throttled kind is unused and less
 * than three minutes old, or the sender of an invitation has not confirmed their own address. Locks recipient and sender until
 * the transaction ends, so that concurrent transactions respect the limits.
 */
export const insertMail = async (
  tx: TransactionSql,
  { kind, recipient, sender = null, invitation, validSeconds }: NewMail,
): Promise<void> => {
  await tx`
    select pg_advisory_xact_lock(hashtextextended(person, 0)) from unnest(array[${sender}::text, ${recipient}]) as person`;
  await tx`
    insert into mails (owner, id, kind, recipient, sender, list_id, invitation, state, attempts, due_at, created_at, expires_at)
    select md5(${recipient})::uuid, ${uuidv7()}, ${kind}, ${recipient}, ${sender}::uuid, ${invitation?.listId ?? null}::uuid,
      ${invitation?.id ?? null}::uuid, 'pending', 0, now(), now(), now() + make_interval(secs => ${validSeconds})
    where (select count(*) from mails where owner = md5(${recipient})::uuid and kind = ${kind}
        and created_at > now() - interval '1 hour') < ${maxMails.ofRecipient}
      and not (${kind} = any(${throttledKinds}) and exists (select from mails where owner = md5(${recipient})::uuid and kind = ${kind}
        and state <> 'used' and expires_at > now() and created_at > now() - interval '3 minutes'))
      and (${kind} <> 'invitation' or exists (select from users where id = ${sender}::uuid and email_verified_at is not null)
        and (select count(*) from mails where sender = ${sender}::uuid and kind = 'invitation'
          and created_at > now() - interval '1 day') < ${maxMails.ofSender})`;
};

/** Counts the invitations that a user may still send by mail today; 0 until they have confirmed their own address. */
export const invitationsLeft = async (tx: TransactionSql, userId: string): Promise<number> => {
  const [row] = await tx<{ remaining: number }[]>`
    select greatest(0, ${maxMails.ofSender} - (
      select count(*) from mails
      where sender = ${userId} and kind = 'invitation' and created_at > now() - interval '1 day'))::int as remaining
    from users where id = ${userId} and email_verified_at is not null`;
  return row?.remaining ?? 0;
};

/** The data from which a mail is rendered when it is sent. */
export interface DueMail {
  kind: MailKind;
  recipient: string;
  language: Language;
  from: string | null;
  list: string | null;
  invitation: CodedRow | null;
  /** Whether to send the mail. False if, for example, the invitation was withdrawn or the address confirmed meanwhile. */
  isWanted: boolean;
}

/** Reads the data of a mail. Undefined when the mail was deleted. */
export const readMail = async (sql: Sql, { owner, key }: LeasedRow): Promise<DueMail | undefined> => {
  const [mail] = await sql<DueMail[]>`
    select m.kind, m.recipient, coalesce(u.language, s.language, 'en') as language, s.name as from, l.name as list,
      case when m.invitation is not null then json_build_object('parentId', m.list_id, 'id', m.invitation) end as invitation,
      m.expires_at > now() and m.state = 'pending' and case m.kind
        when 'invitation' then i.list_id is not null
        when 'password_reset' then u.id is not null
        when 'email_verification' then u.id is not null and u.email_verified_at is null
        when 'email_change' then u.id is null
        else true end as "isWanted"
    from mails m
    left join users u on u.email = m.recipient
    left join users s on s.id = m.sender
    left join lists l on l.id = m.list_id
    left join list_members i on i.list_id = m.list_id and i.invitation = m.invitation and i.user_id is null
    where m.owner = ${owner} and m.id = ${key}`;
  return mail;
};

/** Records that a mail was sent or is not wanted, also when another worker has claimed it meanwhile. */
export const finishMail = async (
  sql: Sql,
  { owner, key }: LeasedRow,
  state: 'sent' | 'unwanted',
): Promise<void> => {
  await sql`
    update mails set state = ${state}, worker = null, error = null
    where owner = ${owner} and id = ${key} and state = 'pending'`;
};

/**
 * Redeems the code of a mail and returns the mail. Undefined for a code that was used, has expired, or was replaced by a newer
 * one. Of concurrent calls, only one succeeds.
 */
export const redeemMail = async (
  tx: Queries,
  { parentId: owner, id }: CodedRow,
  kinds: readonly MailKind[],
): Promise<{ kind: MailKind; recipient: string; sender: string | null } | undefined> => {
  const [mail] = await tx<{ kind: MailKind; recipient: string; sender: string | null }[]>`
    update mails m set state = 'used', worker = null
    where owner = ${owner} and id = ${id} and kind = any(${kinds}) and state in ('pending', 'sent')
      and expires_at > now() and not exists (
        select from mails newer where newer.kind = m.kind and (newer.created_at, newer.id) > (m.created_at, m.id)
          and (newer.sender = m.sender or m.sender is null and newer.owner = m.owner))
    returning kind, recipient, sender`;
  return mail;
};

/**
 * Voids the codes of requested changes of the address. `confirmEmail` locks mail and user in the opposite order; after a
 * deadlock the transaction is retried.
 */
export const voidEmailChanges = async (tx: Queries, userId: string): Promise<void> => {
  await tx`
    update mails set expires_at = now() where sender = ${userId} and kind = 'email_change' and expires_at > now()`;
};

/** Age in seconds of the oldest mail that waits to be sent; 0 if none waits. */
export const oldestMailSeconds = async (sql: Sql): Promise<number> => {
  const [row] = await sql<[{ seconds: number }]>`
    select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
    from mails where state = 'pending'`;
  return row.seconds;
};
