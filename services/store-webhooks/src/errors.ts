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

/** The work was interrupted because this instance stops; it returns to the queue. */
export class Stopped extends SafeError {
  override name = 'Stopped';
  constructor() {
    super('The instance that processed this event was stopped.');
  }
}

/**
 * The provider gave no usable answer, but may give one later. The message names the provider and the failure, and contains
 * nothing from the answer.
 */
export class ProviderUnavailable extends SafeError {
  /** How the request failed, such as `answered 500`. */
  readonly failure: string;
  /** HTTP status of its answer; undefined if it did not answer. */
  readonly status: number | undefined;

  constructor(
    provider: string,
    failure: string,
    { status, ...options }: ErrorOptions & { status?: number } = {},
  ) {
    super(`The provider ${provider} ${failure}.`, options);
    this.name = 'ProviderUnavailable';
    this.failure = failure;
    this.status = status;
  }
}

/** No request was sent, because the provider failed repeatedly or has too many requests in progress. */
export class ProviderBusy extends ProviderUnavailable {
  /** Milliseconds until a request may succeed. */
  readonly waitMs: number;
  /** `open`: it failed repeatedly. */
  readonly circuit: 'open' | 'closed';

  constructor(provider: string, failure: string, waitMs: number, circuit: 'open' | 'closed') {
    super(provider, failure);
    this.name = 'ProviderBusy';
    this.waitMs = waitMs;
    this.circuit = circuit;
  }
}

/** The final state of an event that failed with this error; undefined if a retry may succeed. */
export const finalState = (error: unknown): 'failed' | 'ignored' | undefined => {
  if (error instanceof Ignored) return 'ignored';
  // Class 22 (data exception): PostgreSQL refuses a value of the event and would refuse it again.
  const isRefusedValue = error instanceof postgres.PostgresError && error.code.startsWith('22');
  return error instanceof Unprocessable || isRefusedValue ? 'failed' : undefined;
};
