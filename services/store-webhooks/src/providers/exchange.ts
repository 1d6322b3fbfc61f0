import { lookup } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

/** Which addresses may be asked: those of the public internet, or any. */
export type Addresses = 'public' | 'any';

/** A provider gave no usable answer. The message holds nothing the provider said. */
export class ProviderAway extends Error {
  /** Whether another try may get one. */
  readonly mayPass: boolean;

  constructor(what: string, mayPass = true, cause?: unknown) {
    super(`The provider ${what}.`, { cause });
    this.name = 'ProviderAway';
    this.mayPass = mayPass;
  }
}

interface Exchange {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | undefined;
  timeoutMs: number;
  addresses: Addresses;
}

const maxAnswer = 1_048_576;

/** Checks the address at the moment of connecting, so that a name can't change its mind in between. */
const publicLookup: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, found) => {
    if (error !== null) return done(error, []);
    const list = Array.isArray(found) ? found : [found];
    if (!list.every(({ address }) => isPublicAddress(address)))
      return done(new ProviderAway('has a private address', false), []);
    if (options.all) return done(null, list);
    const [first] = list;
    return done(null, first?.address ?? '', first?.family ?? 4);
  });
};

const agents = {
  'http:': new HttpAgent({ keepAlive: true, maxSockets: 50 }),
  'https:': new HttpsAgent({ keepAlive: true, maxSockets: 50 }),
};

const read = async (answer: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxAnswer) throw new ProviderAway('answered too much', false);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ProviderAway('did not answer JSON');
  }
};

const understand = async (answer: IncomingMessage): Promise<unknown> => {
  const status = answer.statusCode ?? 0;
  if (status === 404) {
    answer.resume();
    return undefined;
  }
  if (status < 200 || status > 299) {
    answer.resume();
    // A redirect might lead anywhere, so none is followed.
    throw new ProviderAway(`answered ${status}`, status >= 500 || status === 429);
  }
  return parse(await read(answer));
};

/**
 * One request to a provider and its JSON answer; undefined for 404. Rejects with ProviderAway, for
 * an answer that is late as well.
 */
export const exchange = async ({ url, method, headers, body, timeoutMs, addresses }: Exchange) => {
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (addresses === 'public' && !isPublicAddress(literal, true))
    throw new ProviderAway('has a private address', false);
  const secure = url.protocol === 'https:';
  const signal = AbortSignal.timeout(timeoutMs);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (secure ? httpsRequest : httpRequest)(
    url,
    {
      method,
      headers: { accept: 'application/json', ...headers },
      signal,
      agent: agents[secure ? 'https:' : 'http:'],
      ...(addresses === 'public' ? { lookup: publicLookup } : {}),
    },
    resolve,
  );
  request.on('error', reject);
  request.end(body);
  try {
    return await understand(await promise);
  } catch (error) {
    if (error instanceof ProviderAway) throw error;
    throw new ProviderAway(signal.aborted ? 'did not answer in time' : 'can not be reached', true, error);
  }
};
