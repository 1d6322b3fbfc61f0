import { lookup } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { createPieceCollector } from '@platform/service-kit/body';
import { ProviderUnavailable, Stopped, Unprocessable } from '../errors.ts';
import { parseExactly } from './exact-json.ts';
import { isPublicAddress } from './public-address.ts';

/** Which addresses may be requested: those of the public internet, or any. */
export type Addresses = 'public' | 'any';

interface Exchange {
  /** Names the provider in messages. */
  provider: string;
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | undefined;
  timeoutMs: number;
  addresses: Addresses;
  /** Aborted when the process stops. */
  stopping: AbortSignal;
}

const maxAnswer = 1_048_576;

const privateAddress = () => new Unprocessable('The provider has a private address.');

/** Checks the address while connecting, so that DNS rebinding cannot replace it after the check (SSRF). */
const publicLookup: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, found) => {
    if (error !== null) return done(error, []);
    if (!found.every(({ address }) => isPublicAddress(address))) return done(privateAddress(), []);
    const [first] = found;
    return options.all ? done(null, found) : done(null, first?.address ?? '', first?.family ?? 4);
  });
};

const transports = {
  'http:': { request: httpRequest, agent: new HttpAgent({ keepAlive: true }) },
  'https:': { request: httpsRequest, agent: new HttpsAgent({ keepAlive: true }) },
};

/** The JSON of an answer; undefined for 404. A redirect is not followed: it could lead to any address. */
const parseAnswer = async (provider: string, answer: IncomingMessage): Promise<unknown> => {
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 299) {
    answer.resume();
    if (status === 404) return undefined;
    if (status >= 500 || status === 429)
      throw new ProviderUnavailable(provider, `answered ${status}`, { status });
    const hint =
      status === 401 || status === 403 ? ' Check its credentials in the settings of the store.' : '';
    throw new Unprocessable(`The provider ${provider} answered ${status}.${hint}`);
  }
  const pieces = createPieceCollector();
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxAnswer) throw new Unprocessable(`The answer of the provider ${provider} is too large.`);
    pieces.add(chunk);
  }
  try {
    return parseExactly(pieces.join().toString('utf8'));
  } catch {
    throw new ProviderUnavailable(provider, 'did not answer with JSON', { status });
  }
};

/**
 * Sends one request and returns the JSON answer; undefined for 404. Rejects with ProviderUnavailable, with Unprocessable if
 * the same request would fail again, and with Stopped.
 */
export const exchange = async (request: Exchange) => {
  const { provider, url, method, headers, body, timeoutMs, addresses, stopping } = request;
  const isPublicOnly = addresses === 'public';
  // No lookup takes place for an IP address in the URL.
  if (isPublicOnly && !isPublicAddress(url.hostname.replace(/^\[|\]$/g, ''), true)) throw privateAddress();
  const { request: send, agent } = transports[url.protocol === 'https:' ? 'https:' : 'http:'];
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stopping]);
  const options = { method, headers: { accept: 'application/json', ...headers }, signal, agent };
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      send(url, isPublicOnly ? { ...options, lookup: publicLookup } : options, resolve)
        .on('error', reject)
        .end(body);
    });
    return await parseAnswer(provider, answer);
  } catch (error) {
    if (error instanceof ProviderUnavailable || error instanceof Unprocessable) throw error;
    if (stopping.aborted) throw new Stopped();
    const what = signal.aborted ? 'did not answer in time' : 'cannot be reached';
    throw new ProviderUnavailable(provider, what, { cause: error });
  }
};
