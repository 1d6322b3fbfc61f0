/** The event can never be processed, so a retry is useless. The message names fields, never values. */
export class Unprocessable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unprocessable';
  }
}

/** The event is not processed here: it is marked as ignored and no error is reported. */
export class Ignored extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Ignored';
  }
}
