import { passwordProblems } from '@platform/auth/password';
import { Conflict, NotFound, Problem, ValidationFailed } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import postgres, { type TransactionSql } from 'postgres';
import {
  comparePassword,
  emailTaken,
  getSessionUser,
  lockUnchangedPassword,
  requireUnleakedPassword,
} from '../auth/use-cases.ts';
import type { Context } from '../context.ts';
import { changeMemberEmail } from '../lists/use-cases.ts';
import { voidEmailChanges } from '../mails/use-cases.ts';
import { recordEvent } from '../security/events.ts';
import type { Actor, Client } from '../sessions/client.ts';
import { markPasswordEntered, deleteSessions, lockSession, revokeSessions } from '../sessions/use-cases.ts';
import { lockUserByEmail, replaceEmail, setPassword, verifyEmail } from './queries.ts';
import type { EmailChange, PasswordChange, PasswordReset } from './schema.ts';

/** For operations of operators, which change the user as well. */
export { lockUser } from './queries.ts';

/** Returns the mailer's queue. Throws Conflict `mail_off` when no mail server is configured. */
export const requireMails = ({ mails }: Context) => {
  if (mails === undefined) throw new Conflict('mail_off', 'This service sends no mail: SMTP_URL is not set.');
  return mails;
};

const requireGoodPassword = async (context: Context, newPassword: string, email: string): Promise<void> => {
  const problems = passwordProblems(newPassword, email);
  if (problems.length > 0) throw new ValidationFailed({ newPassword: problems });
  await requireUnleakedPassword(context, newPassword, 'newPassword');
};

const sessionNameOf = ({ userId, sessionId }: Actor) => ({ userId, id: sessionId });

const wrongPassword = () =>
  new Problem({ status: 403, code: 'wrong_password', detail: 'The current password is wrong.' });

type Account = NonNullable<Awaited<ReturnType<typeof comparePassword>>>;

/** Compares the password with that of the caller and returns the account. Repeats when the address was changed meanwhile. */
const findOwnAccount = async (context: Context, actor: Actor, password: string): Promise<Account> => {
  const { userId, ...client } = actor;
  const { email } = await getSessionUser(context.database.sql, userId);
  const account = await comparePassword(context, { email, password, ...client }, 'password_failed');
  // Meanwhile another user may have taken over the former address.
  if (account?.user.id === userId) return account;
  const { email: current } = await getSessionUser(context.database.sql, userId);
  if (current === email) throw wrongPassword();
  return findOwnAccount(context, actor, password);
};

/**
 * Compares a password with that of the user. Throws a Problem (403 `wrong_password`) if it is wrong. Wrong passwords count as
 * failed logins from this network, so it may throw TooManyRequests. Returns the account and `begin`, which runs a change in a
 * transaction: it throws `wrong_password` when the password was changed meanwhile, for example because it was stolen, and
 * Unauthorized when the session has ended.
 */
const requirePassword = async (context: Context, actor: Actor, password: string) => {
  const account = await findOwnAccount(context, actor, password);
  return {
    ...account.user,
    begin: <Result>(change: (tx: TransactionSql) => Promise<Result>) =>
      context.database.sql.begin(async (tx) => {
        if (!(await lockUnchangedPassword(tx, account))) throw wrongPassword();
        await lockSession(tx, sessionNameOf(actor));
        return change(tx);
      }),
  };
};

/**
 * Runs `change` in a transaction that locks the user. Throws a Problem (403 `reauthentication_required`) unless the password
 * was entered in this session within ten minutes, and Unauthorized when the session has ended.
 */
export const withRecentPassword = <Result>(
  { database }: Context,
  actor: Actor,
  change: (tx: TransactionSql) => Promise<Result>,
) =>
  database.sql.begin(async (tx) => {
    if (!(await lockSession(tx, sessionNameOf(actor))))
      throw new Problem({
        status: 403,
        code: 'reauthentication_required',
        detail: 'Enter your password again: POST /auth/reauthenticate.',
      });
    return change(tx);
  });

/** Checks the password again for changes that need a recent one (`withRecentPassword`). Throws as `requirePassword` does. */
export const reauthenticate = async (context: Context, actor: Actor, password: string): Promise<void> => {
  const { begin } = await requirePassword(context, actor, password);
  await begin(async (tx) => {
    await markPasswordEntered(tx, sessionNameOf(actor));
    await recordEvent(tx, actor.userId, 'reauthenticated', actor);
  });
};

/**
 * Sets a new password, ends all other sessions and voids requested changes of the address. Throws as `requirePassword` does,
 * and ValidationFailed.
 */
export const changePassword = async (
  context: Context,
  actor: Actor,
  { currentPassword, newPassword }: PasswordChange,
): Promise<void> => {
  const { id, email, begin } = await requirePassword(context, actor, currentPassword);
  await requireGoodPassword(context, newPassword, email);
  const { loginPasswords, mails } = context;
  const passwordHash = await loginPasswords.hash(newPassword, { email, address: actor.address });
  const ended = await begin(async (tx) => {
    await setPassword(tx, id, passwordHash);
    await voidEmailChanges(tx, id);
    await markPasswordEntered(tx, sessionNameOf(actor));
    await recordEvent(tx, id, 'password_changed', actor);
    await mails?.queue(tx, { kind: 'password_changed', recipient: email });
    return deleteSessions(tx, id, { except: actor.sessionId });
  });
  await revokeSessions(context, id, ended);
};

/**
 * Queues a mail with a code for a new password. Does the same work whether or not the address has an account: only the mailer
 * looks that up. Throws TooManyRequests, and Conflict `mail_off`.
 */
export const requestPasswordReset = async (
  context: Context,
  { email, address }: { email: string; address: string | undefined },
): Promise<void> => {
  const mails = requireMails(context);
  await context.mailLimit?.({ email, address });
  await context.database.sql.begin((tx) => mails.queue(tx, { kind: 'password_reset', recipient: email }));
};

/**
 * Sets a new password with the code of a mail. Ends every session, voids requested changes of the address, and ends the waits
 * after failed logins. Throws NotFound for a code that is wrong, used, replaced or older than 30 minutes, ValidationFailed
 * (the code stays valid), and TooManyRequests.
 */
export const resetPassword = async (
  context: Context,
  { token, newPassword }: PasswordReset,
  client: Client,
): Promise<void> => {
  const { address } = client;
  const mails = requireMails(context);
  // Hashing takes 30 ms of CPU. So it requires a code that this service issued, and attempts per code are limited.
  if (!mails.isPasswordCode(token)) throw new NotFound('code');
  await requireGoodPassword(context, newPassword, '');
  await context.mailLimit?.({ email: token, address });
  const { loginPasswords, database, throttle } = context;
  const passwordHash = await loginPasswords.hash(newPassword, { email: token, address });
  const { email, userId, ended } = await database.sql.begin(async (tx) => {
    const { recipient: email } = orNotFound(await mails.redeemPasswordCode(tx, token), 'code');
    const { id: userId, isVerified } = orNotFound(await lockUserByEmail(tx, email), 'code');
    await requireGoodPassword(context, newPassword, email);
    await setPassword(tx, userId, passwordHash);
    // The code proves that the address belongs to the user.
    if (!isVerified) await verifyEmail(tx, userId);
    await voidEmailChanges(tx, userId);
    await recordEvent(tx, userId, 'password_reset', client);
    await mails.queue(tx, { kind: 'password_changed', recipient: email });
    return { email, userId, ended: await deleteSessions(tx, userId) };
  });
  await revokeSessions(context, userId, ended);
  await throttle.liftAccount({ email, address });
};

/**
 * Queues another verification mail. Throws Conflict `mail_off`, TooManyRequests, and Unauthorized when the session has ended
 * meanwhile, for example by the first confirmation.
 */
export const requestVerification = async (context: Context, actor: Actor): Promise<void> => {
  const mails = requireMails(context);
  const { email } = await getSessionUser(context.database.sql, actor.userId);
  await context.mailLimit?.({ email, address: actor.address });
  await context.database.sql.begin(async (tx) => {
    await lockSession(tx, sessionNameOf(actor));
    await mails.queue(tx, { kind: 'email_verification', recipient: email });
  });
};

/**
 * Queues a mail to the new address, whose code confirms the change. Does the same work whether or not the new address has an
 * account already. Throws as `requirePassword` does, or without a password as `withRecentPassword`, and Conflict `mail_off`.
 */
export const requestEmailChange = async (
  context: Context,
  actor: Actor,
  { newEmail, currentPassword }: EmailChange,
): Promise<void> => {
  const mails = requireMails(context);
  const begin =
    currentPassword === undefined
      ? (change: (tx: TransactionSql) => Promise<void>) => withRecentPassword(context, actor, change)
      : (await requirePassword(context, actor, currentPassword)).begin;
  await context.mailLimit?.({ email: newEmail, address: actor.address });
  await begin(async (tx) => {
    await recordEvent(tx, actor.userId, 'email_change_requested', actor);
    await mails.queue(tx, { kind: 'email_change', recipient: newEmail, sender: actor.userId });
  });
};

/**
 * Confirms an address with the code of a mail: the address of a new user, or a changed one. The first confirmation ends earlier
 * sessions and voids earlier changes of the address, because somebody else may have registered the address. Throws NotFound
 * for a code that is wrong, used, replaced or too old, and Conflict `email_taken`.
 */
export const confirmEmail = async (context: Context, token: string, client: Client): Promise<void> => {
  const mails = requireMails(context);
  const confirmation = context.database.sql.begin(async (tx) => {
    const { recipient, sender } = orNotFound(await mails.redeemAddressCode(tx, token), 'code');
    if (sender !== null) {
      const former = orNotFound(await replaceEmail(tx, sender, recipient), 'code');
      await changeMemberEmail(tx, sender, recipient);
      await recordEvent(tx, sender, 'email_changed', client);
      await mails.queue(tx, { kind: 'email_changed', recipient: former, sender });
      return { userId: sender, ended: [] };
    }
    const { id, isVerified } = orNotFound(await lockUserByEmail(tx, recipient), 'code');
    if (isVerified) return { userId: id, ended: [] };
    await verifyEmail(tx, id);
    await voidEmailChanges(tx, id);
    await recordEvent(tx, id, 'email_verified', client);
    return { userId: id, ended: await deleteSessions(tx, id) };
  });
  const { userId, ended } = await confirmation.catch((error: unknown) => {
    if (error instanceof postgres.PostgresError && error.code === '23505') throw emailTaken();
    throw error;
  });
  await revokeSessions(context, userId, ended);
};
