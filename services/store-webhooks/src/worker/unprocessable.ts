/** The event can never be processed, so a retry is useless. The message names fields, never values. */
export class Unprocessable extends Error {
  override name = 'Unprocessable';
}

/** The event is not processed here: it is marked as ignored and no error is reported. */
export class Ignored extends Error {
  override name = 'Ignored';
}

/** The work was interrupted because this process ends; it is given back. */
export class Stopped extends Error {
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
