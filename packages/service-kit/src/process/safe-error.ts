import { DrizzleQueryError } from 'drizzle-orm/errors';
import postgres from 'postgres';
import { codesOf } from '../database/database-error.ts';

/** Property of our own errors: true if the message contains no data from requests, the database or files. */
export const messageIsSafe = Symbol('messageIsSafe');

/** An error whose message contains no data from requests, the database or files, so that it may be logged and reported. */
export class SafeError extends Error {
  readonly [messageIsSafe] = true;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Our patches of both drivers remove all values from the messages of these errors. */
const errorsWithoutValues = [postgres.PostgresError, DrizzleQueryError];

const maxCauses = 5;

const isSafe = (error: Error): boolean =>
  (error as Partial<SafeError>)[messageIsSafe] === true ||
  errorsWithoutValues.some((errorClass) => error instanceof errorClass);

/** The SQLSTATE or the Node.js code of an error. */
const codeOf = (error: Error): string | undefined =>
  codesOf(error).find(({ code }) => /^[\w-]{1,40}$/.test(code))?.code;

/**
 * The part of an error that may be logged: the message of our own errors and PostgreSQL's, otherwise only name and code.
 * Messages of libraries and parsers may quote their input, such as an address or a card's cryptogram.
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

/** A copy of the error for a crash report: its safe message and stack frames, and no other fields. */
export const safeError = (error: unknown): Error => {
  const safe = new SafeError(safeErrorMessage(error));
  if (error instanceof Error) {
    safe.name = error.name;
    safe.stack = stackOf(error);
  }
  return safe;
};

/** The fields that are logged for an error and its causes. They contain no parameter of a statement, command or request (ADR 86). */
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
