import type { Queries } from '@platform/service-kit/record';
import type { TransactionSql } from 'postgres';
import { createCodes, type CodedRow, type Codes } from '../codes.ts';
import type { Env } from '../env.ts';
import type { MailKind } from './texts/texts.ts';
import { insertMail, invitationsLeft, redeemMail, type DueMail, type NewMail } from './queries.ts';

export { voidEmailChanges } from './queries.ts';

const hour = 3600;
/** How long a mail may wait to be sent, and how long its code is valid; the code of an invitation is valid longer. */
const validSeconds = (kind: MailKind): number => (kind === 'password_reset' ? hour / 2 : 24 * hour);

/** Queue of mails created by `createMails`. */
export type Mails = NonNullable<ReturnType<typeof createMails>>;

/** Queues mails and redeems the codes in them. Undefined without a mail server. */
export const createMails = (env: Env, invitations: Codes) => {
  const { SMTP_URL: url, AUTH_SIGNING_KEY: keys } = env;
  if (url === undefined) return undefined;
  const passwordCodes = createCodes(keys, 'password resets');
  const addressCodes = createCodes(keys, 'email addresses');
  /** The code of a mail and the page that reads it. */
  const codeAndPageOf = ({ kind, invitation }: Pick<DueMail, 'kind' | 'invitation'>, ids: CodedRow) => {
    if (kind === 'invitation' && invitation !== null)
      return { code: invitations.codeOf(invitation), page: env.APP_INVITATION_URL };
    if (kind === 'password_reset') return { code: passwordCodes.codeOf(ids), page: env.APP_RESET_URL };
    if (kind === 'email_verification' || kind === 'email_change')
      return { code: addressCodes.codeOf(ids), page: env.APP_EMAIL_URL };
    return { code: undefined, page: kind === 'deletion_requested' ? env.APP_DELETION_URL : undefined };
  };
  /** Creates a function that redeems a code. The function returns undefined for a code that is wrong, used or expired. */
  const redeemer =
    (codes: Codes, kinds: readonly MailKind[]) =>
    async (tx: Queries, code: string): ReturnType<typeof redeemMail> => {
      const ids = codes.read(code);
      return ids && redeemMail(tx, ids, kinds);
    };
  return {
    url,
    codeAndPageOf,
    /** Queues a mail in the transaction of the change that causes it. */
    queue: (tx: TransactionSql, mail: Omit<NewMail, 'validSeconds'>): Promise<void> =>
      insertMail(tx, { ...mail, validSeconds: validSeconds(mail.kind) }),
    /** Queues mails for new invitations to a list, as many as the user may still send today. */
    invite: async (
      tx: TransactionSql,
      { listId, userId: sender }: { listId: string; userId: string },
      invitations: readonly { email: string; id: string }[],
    ): Promise<void> => {
      const kind = 'invitation';
      // Asks for the number first, because each mail takes two statements, and most users may send none.
      const remaining = await invitationsLeft(tx, sender);
      for (const { email: recipient, id } of invitations.slice(0, remaining))
        await insertMail(tx, {
          kind,
          recipient,
          sender,
          invitation: { listId, id },
          validSeconds: validSeconds(kind),
        });
    },
    /** Returns whether this service created the code. Needs no query, and does not check whether the code is still valid. */
    isPasswordCode: (code: string): boolean => passwordCodes.read(code) !== undefined,
    redeemPasswordCode: redeemer(passwordCodes, ['password_reset']),
    redeemAddressCode: redeemer(addressCodes, ['email_verification', 'email_change']),
  };
};
