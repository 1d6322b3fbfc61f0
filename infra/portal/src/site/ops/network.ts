/** The network failed before the whole response of the gateway was there. */
export class NetworkError extends Error {
  constructor(cause: unknown) {
    super('The gateway cannot be reached.', { cause });
  }
}

/** Whether a request was ended by this page. */
export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';

/**
 * Passes on why a request has no response or no whole body. `fetch` rejects with a TypeError when the network fails,
 * which becomes a NetworkError; anything else, such as an AbortError, stays as it is.
 */
export const throwNetworkError = (reason: unknown): never => {
  throw reason instanceof TypeError ? new NetworkError(reason) : reason;
};
