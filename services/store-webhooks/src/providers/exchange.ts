import { AnswerTooLarge, PrivateAddress, type Addresses } from '@platform/service-kit/outbound';
import { NoForeignAnswer, type OutboundThreads } from '@platform/service-kit/outbound-threads';
import { ProviderUnavailable, Stopped, Unprocessable } from '../errors.ts';
import { isTooComplex, parseExactly } from './payload-parsing.ts';

interface Exchange {
  outbound: OutboundThreads;
  storeId: string;
  /** Name of the provider in messages. */
  provider: string;
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | undefined;
  timeoutMs: number;
  addresses: Addresses;
  /** Aborted when the instance stops. */
  stopping: AbortSignal;
}

const statusError = (provider: string, status: number): Error => {
  if (status >= 500 || status === 429)
    return new ProviderUnavailable(provider, `answered ${status}`, { status });
  const hint = status === 401 || status === 403 ? ' Check its credentials in the settings of the store.' : '';
  return new Unprocessable(`The provider ${provider} answered ${status}.${hint}`);
};

const tooLarge = (provider: string) =>
  new Unprocessable(`The answer of the provider ${provider} is too large.`);

const parse = (provider: string, status: number, body: Buffer): unknown => {
  if (isTooComplex(body)) throw tooLarge(provider);
  try {
    return parseExactly(body.toString('utf8'));
  } catch {
    throw new ProviderUnavailable(provider, 'did not answer with JSON', { status });
  }
};

/**
 * Sends one request and returns the JSON answer; undefined for 404. Rejects with ProviderUnavailable, with Unprocessable if
 * the same request would fail again, and with Stopped.
 */
export const exchange = async ({
  outbound,
  storeId,
  provider,
  url,
  stopping,
  headers,
  ...rest
}: Exchange) => {
  const request = { ...rest, headers: { accept: 'application/json', ...headers }, wholeBody: true };
  try {
    const target = { subject: storeId, url: url.href };
    const { status, body } = await outbound.send(target, () => request, stopping);
    if (status >= 200 && status <= 299) return parse(provider, status, Buffer.from(body.buffer));
    if (status === 404) return undefined;
    throw statusError(provider, status);
  } catch (error) {
    if (error instanceof ProviderUnavailable || error instanceof Unprocessable) throw error;
    if (error instanceof PrivateAddress) throw new Unprocessable('The provider has a private address.');
    if (error instanceof AnswerTooLarge) throw tooLarge(provider);
    if (stopping.aborted) throw new Stopped();
    const isTimeout = error instanceof NoForeignAnswer && error.isTimeout;
    const failure = isTimeout ? 'did not answer in time' : 'cannot be reached';
    throw new ProviderUnavailable(provider, failure, { cause: error });
  }
};
