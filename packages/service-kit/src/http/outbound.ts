import { Resolver } from 'node:dns/promises';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import { SafeError } from '../process/safe-error.ts';
import { createPieceCollector } from './body.ts';
import { parseAddress } from './network.ts';
import { z } from 'zod';

/**
 * The address of a server of others. It is parsed only when it is short ASCII: to parse a host with many combining marks
 * takes time by the square of their number.
 */
export const webAddress = z
  .string()
  .max(500, { abort: true })
  // URL parsers remove line ends and turn backslashes into slashes, so the parsed URL would differ from the stored one.
  .refine((url) => /^[!-[\]-~]*$/.test(url), {
    error: 'must be printable ASCII without backslashes; hosts in Punycode',
    abort: true,
  })
  .check(z.url({ protocol: /^https?$/, error: 'must be an http or https address', abort: true }))
  .refine((url) => {
    const { username, password } = new URL(url);
    return username === '' && password === '' && !/[?#]/.test(url);
  }, 'must have no credentials, query or fragment');

/** Which addresses may be requested: those of the public internet, or any. */
export type Addresses = 'public' | 'any';

/** The host has an address that may not be requested. */
export class PrivateAddress extends SafeError {
  constructor() {
    super('The host has a private address.');
  }
}

/** The answer is larger than 1 MiB, or comes in too many pieces. */
export class AnswerTooLarge extends SafeError {
  constructor() {
    super('The answer is too large.');
  }
}

/** The server has changed to another protocol (101), or closed the connection without an answer and without an error. */
class NoAnswer extends SafeError {
  constructor() {
    super('The server gave no answer.');
  }
}

/** All global unicast addresses of IPv6 (IANA, RFC 4291 section 2.4). */
const globalUnicast = parseAddress('2000::');

/**
 * Whether an address belongs to the public internet (IANA special-purpose registries, RFC 6890).
 * `names`: also true for a host name, which is resolved and checked later.
 */
export const isPublicAddress = (host: string, names = false): boolean => {
  if (isIP(host) === 0) return names && !/(?:^|\.)localhost\.?$/i.test(host);
  const address = parseAddress(host);
  if (address?.range() !== 'unicast' || globalUnicast === undefined) return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast, 3);
};

/**
 * Makes the look-up of public names. It checks the address while connecting, so that DNS rebinding cannot replace it after the
 * check (SSRF). It asks the name servers by itself: `dns.lookup` has two threads, for which the connections to our database
 * would wait behind the names of a silent server. Names in the hosts file are not public.
 */
export const createPublicLookup = (servers?: readonly string[]): LookupFunction => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers) resolver.setServers(servers);
  const addressesOf = async (host: string): Promise<LookupAddress[]> => {
    const families = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = families.flatMap((answer, at) =>
      answer.status === 'fulfilled'
        ? answer.value.map((address) => ({ address, family: at === 0 ? 4 : 6 }))
        : [],
    );
    const [failed] = families.filter(({ status }) => status === 'rejected');
    if (found.length === 0) throw (failed as PromiseRejectedResult | undefined)?.reason;
    if (!found.every(({ address }) => isPublicAddress(address))) throw new PrivateAddress();
    return found;
  };
  const lookup = callbackify(addressesOf);
  return (host, { all }, done) =>
    lookup(host, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return done(error, []);
      return all ? done(null, addresses) : done(null, first.address, first.family);
    });
};

const publicLookup = createPublicLookup();

/** Connections that wait for another request, to all hosts together: who is called decides how many hosts there are. */
const maxFree = 256;
const keptOpen = { keepAlive: true, timeout: 15_000 };

const withBound = <Agent extends HttpAgent>(agent: Agent): Agent =>
  agent.on('free', (socket: Socket) => {
    const free = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
    if (free > maxFree) socket.destroy();
  });

const transports = {
  'http:': { request: httpRequest, agent: withBound(new HttpAgent(keptOpen)) },
  'https:': { request: httpsRequest, agent: withBound(new HttpsAgent(keptOpen)) },
};

const maxAnswer = 1_048_576;
/** Bytes of headers and of the frames of chunks: one byte in a chunk takes six, and a turn of the parser. */
const maxFraming = 131_072;
/** Informational responses (RFC 9110 section 15.2) before the answer. */
const maxInformation = 10;

const readAnswer = async (answer: IncomingMessage): Promise<Buffer> => {
  const pieces = createPieceCollector();
  const before = answer.socket.bytesRead;
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    const framing = answer.socket.bytesRead - before - length - answer.readableLength;
    if (length > maxAnswer || framing > maxFraming) throw new AnswerTooLarge();
    pieces.add(chunk);
  }
  return pieces.join();
};

const readStart = async (answer: IncomingMessage, bytes: number): Promise<Buffer> => {
  const pieces = createPieceCollector();
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    pieces.add(chunk);
    length += chunk.length;
    if (length >= bytes) break;
  }
  return pieces.join().subarray(0, bytes);
};

interface OutboundRequest {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | undefined;
  addresses: Addresses;
  /** Ends the request and the reading of its answer when it is aborted. */
  signal: AbortSignal;
}

export interface OutboundAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Throws AnswerTooLarge beyond 1 MiB. Call one of these, so that the connection can be used again. */
  read(): Promise<Buffer>;
  /** So many bytes at most; the connection closes where there are more. */
  readStart(bytes: number): Promise<Buffer>;
  discard(): void;
}

/**
 * Sends a request over a connection that is kept open. A redirect is not followed: it could lead to any address. Throws
 * PrivateAddress; other errors are those of the connection.
 */
export const sendRequest = async (
  url: URL,
  { addresses, body, ...request }: OutboundRequest,
): Promise<OutboundAnswer> => {
  const isPublicOnly = addresses === 'public';
  // No lookup takes place for an IP address in the URL.
  if (isPublicOnly && !isPublicAddress(url.hostname.replace(/^\[|\]$/g, ''), true))
    throw new PrivateAddress();
  const { request: send, agent } = transports[url.protocol === 'https:' ? 'https:' : 'http:'];
  const options = { ...request, agent, ...(isPublicOnly ? { lookup: publicLookup } : {}) };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    let information = 0;
    const sent = send(url, options, resolve).on('error', reject);
    // Without a listener for 101 there is no event but this one, not even after the signal. After an answer it does nothing.
    sent.on('close', () => reject(new NoAnswer()));
    sent.on('information', () => {
      if (++information <= maxInformation) return;
      reject(new AnswerTooLarge());
      sent.destroy();
    });
    sent.end(body);
  });
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    read: () => readAnswer(answer),
    readStart: (bytes) => readStart(answer, bytes),
    // Nobody needs the content, nor why it could not be read; a failure has closed the connection.
    discard: () => void readAnswer(answer).catch(() => undefined),
  };
};
