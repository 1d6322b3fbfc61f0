/** An event that no repetition will make sense of. The message names fields, never values. */
export class Unprocessable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unprocessable';
  }
}

/** An event that is none of our business; it is put aside, and nobody is alarmed. */
export class Ignored extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Ignored';
  }
}
