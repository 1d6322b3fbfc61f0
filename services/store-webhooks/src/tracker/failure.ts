import { Unavailable } from '@platform/service-kit/problem';
import { ProviderUnavailable } from '../providers/exchange.ts';
import { Ignored, Unprocessable } from '../worker/unprocessable.ts';

/** An error whose message contains nothing from a request, so it may be logged. */
export class Failure extends Error {
  override name = 'Failure';
}

const ours = [Failure, Unprocessable, Ignored, ProviderUnavailable, Unavailable];

const codeOf = (error: Error): string | undefined => {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^[\w-]{1,40}$/.test(code)) return code;
  // drizzle wraps the error of the driver.
  return error.cause instanceof Error ? codeOf(error.cause) : undefined;
};

/**
 * The part of an error that may be logged: the message of our own errors, otherwise only name and code.
 * The message of a driver or parser may quote its input, such as an address or a card's cryptogram.
 */
export const safeErrorMessage = (error: unknown): string => {
  if (!(error instanceof Error)) return 'A value that is not an Error was thrown.';
  if (ours.some((kind) => error instanceof kind)) return error.message;
  const code = codeOf(error);
  return code === undefined ? error.name : `${error.name} ${code}`;
};

/** A copy of the error with a message that may be logged, and with the stack frames. */
export const safeError = (error: unknown): Error => {
  const safe = new Failure(safeErrorMessage(error));
  if (error instanceof Error) {
    safe.name = error.name;
    const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
    safe.stack = [`${safe.name}: ${safe.message}`, ...frames].join('\n');
  }
  return safe;
};
