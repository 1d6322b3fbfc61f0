import { DrizzleQueryError } from 'drizzle-orm/errors';
import postgres from 'postgres';
import { codesOf } from '../database/database-error.ts';

/** On errors of our own: whether the message contains nothing that was sent, stored or read. */
export const messageIsSafe = Symbol('messageIsSafe');

/** An error whose message contains nothing that was sent, stored or read, so that it may be logged and reported. */
export class SafeError extends Error {
  readonly [messageIsSafe] = true;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The patches of both drivers take every value out of these. */
const withoutValues = [postgres.PostgresError, DrizzleQueryError];

const maxCauses = 5;

const isSafe = (error: Error): boolean =>
  (error as Partial<SafeError>)[messageIsSafe] === true ||
  withoutValues.some((kind) => error instanceof kind);

/** SQLSTATE, or Node's code. */
const codeOf = (error: Error): string | undefined =>
  codesOf(error).find(({ code }) => /^[\w-]{1,40}$/.test(code))?.code;

/**
 * The part of an error that may be logged: the message of our own errors and of PostgreSQL, otherwise only name and code.
 * The message of a library or parser may quote its input, such as an address or a card's cryptogram.
 */
export const safeErrorMessage = (error: unknown): string => {
  if (!(error instanceof Error)) return 'A value that is not an Error was thrown.';
  if (isSafe(error)) return error.message;
  const code = codeOf(error);
  return code === undefined ? error.name : `${error.name} ${code}`;
};

/** The frames of a stack trace, without the message before them. */
const framesOf = ({ stack = '', message }: Error): string[] =>
  stack
    .slice(Math.max(0, stack.indexOf(message)) + message.length)
    .split('\n')
    .filter((line) => line.startsWith('    at '));

const stackOf = (error: Error): string =>
  [`${error.name}: ${safeErrorMessage(error)}`, ...framesOf(error)].join('\n');

/** A copy of the error for a crash report: with a message that may be reported, the stack frames and no other fields. */
export const safeError = (error: unknown): Error => {
  const safe = new SafeError(safeErrorMessage(error));
  if (error instanceof Error) {
    safe.name = error.name;
    safe.stack = stackOf(error);
  }
  return safe;
};

/** What is logged of an error and of its causes. No parameter of a statement, command or request is in it (ADR 86). */
export const describeError = (error: unknown, depth = 0): object => {
  const message = safeErrorMessage(error);
  if (!(error instanceof Error)) return { message };
  const { name, cause } = error;
  const code = codeOf(error);
  return {
    type: name,
    message,
    ...(code === undefined ? {} : { code }),
    stack: stackOf(error),
    ...(cause === undefined || depth === maxCauses ? {} : { cause: describeError(cause, depth + 1) }),
  };
};
