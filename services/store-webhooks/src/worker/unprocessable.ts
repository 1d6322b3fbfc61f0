import { SafeError } from '@platform/service-kit/safe-error';

/** The event can never be processed, so a retry is useless. The message names fields, never values. */
export class Unprocessable extends SafeError {
  override name = 'Unprocessable';
}

/** The event is not processed here: it is marked as ignored and no error is reported. */
export class Ignored extends SafeError {
  override name = 'Ignored';
}

/** The work was interrupted because this process ends; it is given back. */
export class Stopped extends SafeError {
  override name = 'Stopped';
  constructor() {
    super('The process that worked on it was stopped.');
  }
}

/** The state in which an error ends an event; undefined if a retry may succeed. */
export const finalState = (error: unknown): 'failed' | 'ignored' | undefined => {
  if (error instanceof Ignored) return 'ignored';
  return error instanceof Unprocessable ? 'failed' : undefined;
};
