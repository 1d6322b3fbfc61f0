import { orNotFound } from '@platform/service-kit/record-versions';
import type { Queries } from '@platform/service-kit/record';
import type { TransactionSql } from 'postgres';
import { lockUser, requireMails } from '../account/use-cases.ts';
import type { Context } from '../context.ts';
import { voidEmailChanges } from '../mails/use-cases.ts';
import type { SecurityEventKind } from '../security/event-kinds.ts';
import { recordEvent } from '../security/events.ts';
import { deleteSessions, revokeSessions } from '../sessions/use-cases.ts';
import { accounts, setLocked } from './queries.ts';

/** A call of an operator and the user that it concerns. */
interface Call {
  operator: string;
  userId: string;
}

/** Logs who reads or changes an account. Call it before the account is read or changed. */
export const audit = (
  { log }: Context,
  operation: string,
  call: { operator: string; userId: string | undefined },
): void => log.info({ operation, ...call }, 'account operation');

/** Records a security event for the user, without the name and network of the operator. */
const recordCall = (tx: Queries, { userId }: Call, kind: SecurityEventKind): Promise<void> =>
  recordEvent(tx, userId, kind, { network: 'operator', browser: 'operator' });

/** The account as JSON text. Throws NotFound. */
export const readAccount = async (sql: Queries, userId: string): Promise<string> =>
  orNotFound(await accounts.find(sql, { id: userId }, false), 'user');

/** Finds the account with an email address, as JSON text. */
export const findAccount = ({ database: { sql } }: Context, email: string): Promise<string | undefined> =>
  accounts.find(sql, { email }, false);

/** Runs `change` and ends all sessions of the user in one transaction. */
const changeAndEndSessions = async (
  context: Context,
  { userId }: Call,
  change: (tx: TransactionSql) => Promise<void>,
): Promise<void> => {
  const ended = await context.database.sql.begin(async (tx) => {
    await change(tx);
    return deleteSessions(tx, userId);
  });
  await revokeSessions(context, userId, ended);
};

/** Ends all sessions and refuses logins until the account is unlocked. Throws NotFound. */
export const lockAccount = (context: Context, call: Call): Promise<void> =>
  changeAndEndSessions(context, call, async (tx) => {
    orNotFound(await setLocked(tx, call.userId, true), 'user');
    await voidEmailChanges(tx, call.userId);
    await recordCall(tx, call, 'locked');
  });

/** Throws NotFound. */
export const unlockAccount = async ({ database: { sql } }: Context, call: Call): Promise<void> => {
  await sql.begin(async (tx) => {
    orNotFound(await setLocked(tx, call.userId, false), 'user');
    await recordCall(tx, call, 'unlocked');
  });
};

/** Throws NotFound. */
export const endAllSessions = (context: Context, call: Call): Promise<void> =>
  changeAndEndSessions(context, call, async (tx) => {
    orNotFound(await lockUser(tx, call.userId), 'user');
    await recordCall(tx, call, 'all_sessions_ended');
  });

/** Mails the user a code for a new password. Throws NotFound, and Conflict `mail_off`. */
export const sendPasswordReset = async (context: Context, call: Call): Promise<void> => {
  const mails = requireMails(context);
  await context.database.sql.begin(async (tx) => {
    const { email } = orNotFound(await lockUser(tx, call.userId), 'user');
    await recordCall(tx, call, 'reset_requested');
    await mails.queue(tx, { kind: 'password_reset', recipient: email });
  });
};
