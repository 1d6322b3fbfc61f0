import { ProviderUnavailable } from '../providers/exchange.ts';
import { Ignored, Unprocessable } from '../worker/unprocessable.ts';

/** An error that an operation ended with and that says nothing of what was sent. */
export class Failure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Failure';
  }
}

const ours = [Failure, Unprocessable, Ignored, ProviderUnavailable];

const codeOf = (error: Error): string | undefined => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[\w-]{1,40}$/.test(code) ? code : undefined;
};

/**
 * What may be told of an error: our own words, otherwise only its kind. A driver's or a parser's
 * message may quote what it stumbled over, which may be somebody's address or a card's cryptogram.
 */
export const tellable = (error: unknown): string => {
  if (!(error instanceof Error)) return 'Something that is no error was thrown.';
  if (ours.some((kind) => error instanceof kind)) return error.message;
  const code = codeOf(error);
  return code === undefined ? error.name : `${error.name} ${code}`;
};

/** The same error with a message that may be told, and the places it came from. */
export const tellableError = (error: unknown): Error => {
  const told = new Failure(tellable(error));
  if (error instanceof Error) {
    told.name = error.name;
    const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
    told.stack = [`${told.name}: ${told.message}`, ...frames].join('\n');
  }
  return told;
};
