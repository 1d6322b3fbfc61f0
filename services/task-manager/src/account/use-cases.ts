import { passwordProblems } from '@platform/auth/password';
import { Conflict, NotFound, Problem, ValidationFailed } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import postgres, { type TransactionSql } from 'postgres';
import {
  comparePassword,
  emailTaken,
  getSessionUser,
  holdPassword,
  requireUnknownPassword,
} from '../auth/use-cases.ts';
import type { Context } from '../context.ts';
import { changeAddress } from '../lists/use-cases.ts';
import { endEmailChanges } from '../mails/use-cases.ts';
import { recordEvent } from '../security/events.ts';
import type { Actor, Client } from '../sessions/client.ts';
import { confirmSession, deleteSessions, holdSession, revokeSessions } from '../sessions/use-cases.ts';
import { lockUser, lockUserWith, replaceEmail, setPassword, verifyEmail } from './queries.ts';
import type { EmailChange, PasswordChange, PasswordReset } from './schema.ts';

/** For operators, who change it as well. */
export { lockUser } from './queries.ts';

/** Throws Conflict `mail_off` where the service can send no mail. */
export const requireMails = ({ mails }: Context) => {
  if (mails === undefined) throw new Conflict('mail_off', 'This service sends no mail: SMTP_URL is not set.');
  return mails;
};

const requireRules = async (context: Context, newPassword: string, email: string): Promise<void> => {
  const problems = passwordProblems(newPassword, email);
  if (problems.length > 0) throw new ValidationFailed({ newPassword: problems });
  await requireUnknownPassword(context, newPassword, 'newPassword');
};

const sessionOf = ({ userId, sessionId }: Actor) => ({ userId, id: sessionId });

const wrongPassword = () =>
  new Problem({ status: 403, code: 'wrong_password', detail: 'The current password is wrong.' });

type Account = NonNullable<Awaited<ReturnType<typeof comparePassword>>>;

/** The account of the caller whose password this is; compared again when its address was changed meanwhile. */
const findOwnAccount = async (context: Context, actor: Actor, password: string): Promise<Account> => {
  const { userId, ...client } = actor;
  const { email } = await getSessionUser(context.database.sql, userId);
  const account = await comparePassword(context, { email, password, ...client }, 'password_failed');
  // The address may have become another user's.
  if (account?.user.id === userId) return account;
  const { email: current } = await getSessionUser(context.database.sql, userId);
  if (current === email) throw wrongPassword();
  return findOwnAccount(context, actor, password);
};

/**
 * Compares a password with that of the user. Guesses count as failed logins from this network: TooManyRequests. Throws a
 * Problem (403 `wrong_password`) for another one. Returns the account, and a function that begins the transaction of what
 * the password permits: it throws the same when the password was changed meanwhile, for example because it was stolen, and
 * Unauthorized when the session was ended.
 */
const requirePassword = async (context: Context, actor: Actor, password: string) => {
  const account = await findOwnAccount(context, actor, password);
  return {
    ...account.user,
    begin: <Result>(change: (tx: TransactionSql) => Promise<Result>) =>
      context.database.sql.begin(async (tx) => {
        if (!(await holdPassword(tx, account))) throw wrongPassword();
        await holdSession(tx, sessionOf(actor));
        return change(tx);
      }),
  };
};

/**
 * Runs `change` in a transaction in which the user is locked, and the password was given in this session within ten minutes.
 * Throws a Problem (403 `reauthentication_required`), and Unauthorized when the session has ended.
 */
export const withRecentPassword = <Result>(
  { database }: Context,
  actor: Actor,
  change: (tx: TransactionSql) => Promise<Result>,
) =>
  database.sql.begin(async (tx) => {
    await lockUser(tx, actor.userId);
    if (!(await holdSession(tx, sessionOf(actor))))
      throw new Problem({
        status: 403,
        code: 'reauthentication_required',
        detail: 'Enter your password again: POST /auth/reauthenticate.',
      });
    return change(tx);
  });

/** Takes the password once more, for what needs a recent one. Throws as `requirePassword` does. */
export const reauthenticate = async (context: Context, actor: Actor, password: string): Promise<void> => {
  const { begin } = await requirePassword(context, actor, password);
  await begin(async (tx) => {
    await confirmSession(tx, sessionOf(actor));
    await recordEvent(tx, actor.userId, 'reauthenticated', actor);
  });
};

/**
 * Sets a new password, ends all other sessions, and changes of address that were asked for. Throws as `requirePassword`
 * does, and ValidationFailed.
 */
export const changePassword = async (
  context: Context,
  actor: Actor,
  { currentPassword, newPassword }: PasswordChange,
): Promise<void> => {
  const { id, email, begin } = await requirePassword(context, actor, currentPassword);
  await requireRules(context, newPassword, email);
  const { loginPasswords, mails } = context;
  const passwordHash = await loginPasswords.hash(newPassword, { email, address: actor.address });
  const ended = await begin(async (tx) => {
    await setPassword(tx, id, passwordHash);
    await endEmailChanges(tx, id);
    await confirmSession(tx, sessionOf(actor));
    await recordEvent(tx, id, 'password_changed', actor);
    await mails?.queue(tx, { kind: 'password_changed', recipient: email });
    return deleteSessions(tx, id, { but: actor.sessionId });
  });
  await revokeSessions(context, id, ended);
};

/**
 * Has a mail sent by which the owner of an address can set a new password. Does the same work whether or not the address
 * has an account, which only the mailer looks up. Throws TooManyRequests, and Conflict `mail_off`.
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
 * Sets a new password by the code of a mail, and ends every session, changes of address that were asked for, and the waits
 * after failed logins. Throws NotFound for a code that is wrong, used, replaced or older than 30 minutes, ValidationFailed,
 * which uses nothing up, and TooManyRequests.
 */
export const resetPassword = async (
  context: Context,
  { token, newPassword }: PasswordReset,
  client: Client,
): Promise<void> => {
  const { address } = client;
  const mails = requireMails(context);
  // Hashing takes 30 ms of a core. So it needs a code that this service issued, and attempts with one code are limited.
  if (!mails.isPasswordCode(token)) throw new NotFound('code');
  await requireRules(context, newPassword, '');
  await context.mailLimit?.({ email: token, address });
  const { loginPasswords, database, throttle } = context;
  const passwordHash = await loginPasswords.hash(newPassword, { email: token, address });
  const { email, userId, ended } = await database.sql.begin(async (tx) => {
    const { recipient: email } = orNotFound(await mails.takePasswordCode(tx, token), 'code');
    const { id: userId, isVerified } = orNotFound(await lockUserWith(tx, email), 'code');
    await requireRules(context, newPassword, email);
    await setPassword(tx, userId, passwordHash);
    // The code proves that the address belongs to the user.
    if (!isVerified) await verifyEmail(tx, userId);
    await endEmailChanges(tx, userId);
    await recordEvent(tx, userId, 'password_reset', client);
    await mails.queue(tx, { kind: 'password_changed', recipient: email });
    return { email, userId, ended: await deleteSessions(tx, userId) };
  });
  await revokeSessions(context, userId, ended);
  await throttle.liftAccount({ email, address });
};

/**
 * Has the address of a user confirmed by a mail, once more. Throws Conflict `mail_off`, TooManyRequests, and Unauthorized when
 * the session has ended meanwhile, as the first confirmation does.
 */
export const requestVerification = async (context: Context, actor: Actor): Promise<void> => {
  const mails = requireMails(context);
  const { email } = await getSessionUser(context.database.sql, actor.userId);
  await context.mailLimit?.({ email, address: actor.address });
  await context.database.sql.begin(async (tx) => {
    await lockUser(tx, actor.userId);
    await holdSession(tx, sessionOf(actor));
    await mails.queue(tx, { kind: 'email_verification', recipient: email });
  });
};

/**
 * Has a new address confirmed by a mail to it, before it takes the place of the old one. Does the same whether or not the
 * new one has an account already. Throws as `requirePassword` does, or without a password as `withRecentPassword`, and
 * Conflict `mail_off`.
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
 * Confirms an address by the code of a mail: that of a new user, or the new one of a user. Sessions and changes of address
 * from before the first confirmation end, because somebody else may have registered the address. Throws NotFound for a code
 * that is wrong, used, replaced or too old, and Conflict `email_taken`.
 */
export const confirmEmail = async (context: Context, token: string, client: Client): Promise<void> => {
  const mails = requireMails(context);
  const confirmed = context.database.sql.begin(async (tx) => {
    const { recipient, sender } = orNotFound(await mails.takeAddressCode(tx, token), 'code');
    if (sender !== null) {
      const former = orNotFound(await replaceEmail(tx, sender, recipient), 'code');
      await changeAddress(tx, sender, recipient);
      await recordEvent(tx, sender, 'email_changed', client);
      await mails.queue(tx, { kind: 'email_changed', recipient: former, sender });
      return { userId: sender, ended: [] };
    }
    const { id, isVerified } = orNotFound(await lockUserWith(tx, recipient), 'code');
    if (isVerified) return { userId: id, ended: [] };
    await verifyEmail(tx, id);
    await endEmailChanges(tx, id);
    await recordEvent(tx, id, 'email_verified', client);
    return { userId: id, ended: await deleteSessions(tx, id) };
  });
  const { userId, ended } = await confirmed.catch((error: unknown) => {
    if (error instanceof postgres.PostgresError && error.code === '23505') throw emailTaken();
    throw error;
  });
  await revokeSessions(context, userId, ended);
};
