import { SafeError } from '@platform/service-kit/safe-error';
import postgres from 'postgres';

/** The event can never be processed, so a retry is useless. The message names fields, never values. */
export class Unprocessable extends SafeError {
  override name = 'Unprocessable';
}

/** The event is not processed here: it is marked as ignored and no error is reported. */
export class Ignored extends SafeError {
  override name = 'Ignored';
}

/** The work was interrupted because this instance ends; it is given back. */
export class Stopped extends SafeError {
  override name = 'Stopped';
  constructor() {
    super('The instance that processed this event was stopped.');
  }
}

/**
 * A provider gave no usable answer, but may give one later. The message names the provider and what it did, and contains
 * nothing from its answer.
 */
export class ProviderUnavailable extends SafeError {
  /** What it did, such as `answered 500`. */
  readonly what: string;
  /** HTTP status of its answer; undefined if it did not answer. */
  readonly status: number | undefined;

  constructor(
    provider: string,
    what: string,
    { status, ...options }: ErrorOptions & { status?: number } = {},
  ) {
    super(`The provider ${provider} ${what}.`, options);
    this.name = 'ProviderUnavailable';
    this.what = what;
    this.status = status;
  }
}

/** The provider was not asked, because it failed repeatedly or has too many requests in progress. */
export class ProviderBusy extends ProviderUnavailable {
  /** When a request may succeed, in milliseconds. */
  readonly waitMs: number;
  /** `open`: it failed repeatedly. */
  readonly circuit: 'open' | 'closed';

  constructor(provider: string, what: string, waitMs: number, circuit: 'open' | 'closed') {
    super(provider, what);
    this.name = 'ProviderBusy';
    this.waitMs = waitMs;
    this.circuit = circuit;
  }
}

/** The state in which an error ends an event; undefined if a retry may succeed. */
export const finalState = (error: unknown): 'failed' | 'ignored' | undefined => {
  if (error instanceof Ignored) return 'ignored';
  // Class 22: PostgreSQL refuses a value of the event, and would again.
  const isRefusedValue = error instanceof postgres.PostgresError && error.code.startsWith('22');
  return error instanceof Unprocessable || isRefusedValue ? 'failed' : undefined;
};
