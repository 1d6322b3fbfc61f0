import type { Queries } from '@platform/service-kit/record';
import type { TransactionSql } from 'postgres';
import { createCodes, type Coded, type Codes } from '../codes.ts';
import type { Env } from '../env.ts';
import type { MailKind } from './texts/texts.ts';
import { insertMail, invitationsLeft, takeMail, type DueMail, type NewMail } from './queries.ts';

export { endEmailChanges } from './queries.ts';

const hour = 3600;
/** How long a mail is tried and its code is valid; an invitation and its code may last longer. */
const validSeconds = (kind: MailKind): number => (kind === 'password_reset' ? hour / 2 : 24 * hour);

/** What `createMails` makes. */
export type Mails = NonNullable<ReturnType<typeof createMails>>;

/** The mails of the service and the codes in them; undefined without a mail server. */
export const createMails = (env: Env, invitations: Codes) => {
  const { SMTP_URL: url, AUTH_SIGNING_KEY: keys } = env;
  if (url === undefined) return undefined;
  const passwordCodes = createCodes(keys, 'password resets');
  const addressCodes = createCodes(keys, 'email addresses');
  /** The code of a mail, and the page for it. */
  const secretOf = ({ kind, invitation }: Pick<DueMail, 'kind' | 'invitation'>, ids: Coded) => {
    if (kind === 'invitation' && invitation !== null)
      return { code: invitations.codeOf(invitation), page: env.APP_INVITATION_URL };
    if (kind === 'password_reset') return { code: passwordCodes.codeOf(ids), page: env.APP_RESET_URL };
    if (kind === 'email_verification' || kind === 'email_change')
      return { code: addressCodes.codeOf(ids), page: env.APP_EMAIL_URL };
    return { code: undefined, page: kind === 'deletion_requested' ? env.APP_DELETION_URL : undefined };
  };
  /** A function that takes what a code is for, once; undefined for a code that is wrong, used or over. */
  const takes =
    (codes: Codes, kinds: readonly MailKind[]) =>
    async (tx: Queries, code: string): ReturnType<typeof takeMail> => {
      const ids = codes.read(code);
      return ids && takeMail(tx, ids, kinds);
    };
  return {
    url,
    secretOf,
    /** Adds a mail in the transaction of what it is about. */
    queue: (tx: TransactionSql, mail: Omit<NewMail, 'validSeconds'>): Promise<void> =>
      insertMail(tx, { ...mail, validSeconds: validSeconds(mail.kind) }),
    /** As `queue`, for new invitations of a user to a list, as long as the user may invite by mail. */
    invite: async (
      tx: TransactionSql,
      { listId, userId: sender }: { listId: string; userId: string },
      invited: readonly { email: string; id: string }[],
    ): Promise<void> => {
      const kind = 'invitation';
      // Each takes two statements, and most users may send none.
      const left = await invitationsLeft(tx, sender);
      for (const { email: recipient, id } of invited.slice(0, left))
        await insertMail(tx, {
          kind,
          recipient,
          sender,
          invitation: { listId, id },
          validSeconds: validSeconds(kind),
        });
    },
    /** Whether a code is of a mail that this service has written, which costs no query. */
    isPasswordCode: (code: string): boolean => passwordCodes.read(code) !== undefined,
    takePasswordCode: takes(passwordCodes, ['password_reset']),
    takeAddressCode: takes(addressCodes, ['email_verification', 'email_change']),
  };
};
