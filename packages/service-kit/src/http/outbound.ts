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
 * The URL of an external server. Only short ASCII is parsed, because the time to parse a host name grows with the square of
 * its combining marks.
 */
export const webAddress = z
  .string()
  .max(500, { abort: true })
  // URL parsers remove line breaks and turn backslashes into slashes, so the parsed URL would differ from the stored one.
  .refine((url) => /^[!-[\]-~]*$/.test(url), {
    error: 'must be printable ASCII without backslashes; write the host in Punycode',
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

/** The response is larger than 1 MiB, or comes in too many pieces. */
export class AnswerTooLarge extends SafeError {
  constructor() {
    super('The answer is too large.');
  }
}

/** The server switched to another protocol (101), or closed the connection without a response and without an error. */
class NoAnswer extends SafeError {
  constructor() {
    super('The server gave no answer.');
  }
}

/** The IPv6 network of all global unicast addresses is this address with the prefix length 3 (IANA, RFC 4291 section 2.4). */
const globalUnicast = parseAddress('2000::');

/**
 * Whether an IP address belongs to the public internet (IANA special-purpose registries, RFC 6890). With `allowNames` also
 * true for a host name except localhost; its addresses are checked when it is resolved.
 */
export const isPublicAddress = (host: string, allowNames = false): boolean => {
  if (isIP(host) === 0) return allowNames && !/(?:^|\.)localhost\.?$/i.test(host);
  const address = parseAddress(host);
  if (address?.range() !== 'unicast' || globalUnicast === undefined) return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast, 3);
};

/**
 * Creates a DNS look-up that returns only public addresses. It runs while connecting, so that DNS rebinding cannot replace an
 * address after the check (SSRF). It queries the name servers directly and ignores the hosts file: `dns.lookup` uses only two
 * threads, so look-ups at a silent name server would block those of our database connections.
 */
export const createPublicLookup = (servers?: readonly string[]): LookupFunction => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers) resolver.setServers(servers);
  const addressesOf = async (host: string): Promise<LookupAddress[]> => {
    const families = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = families.flatMap((result, index) =>
      result.status === 'fulfilled'
        ? result.value.map((address) => ({ address, family: index === 0 ? 4 : 6 }))
        : [],
    );
    const [failure] = families.filter(({ status }) => status === 'rejected');
    if (addresses.length === 0) throw (failure as PromiseRejectedResult | undefined)?.reason;
    if (!addresses.every(({ address }) => isPublicAddress(address))) throw new PrivateAddress();
    return addresses;
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

/** Maximum number of idle connections to all hosts together, because others decide how many hosts we call. */
const maxIdleSockets = 256;
/**
 * Bytes that are read and parsed at once. By default 64 KiB are: parsing them takes up to 30 ms if they are informational
 * responses or chunks of one byte, and a limit ends the response only afterwards.
 */
const readBytes = 1024;
const agentOptions = {
  keepAlive: true,
  timeout: 15_000,
  onread: {
    buffer: () => Buffer.allocUnsafeSlow(readBytes),
    callback(this: Socket, length: number, buffer: Uint8Array): boolean {
      // False stops reading until the consumer wants more.
      return this.push(buffer.subarray(0, length));
    },
  },
};

const boundIdleSockets = <Agent extends HttpAgent>(agent: Agent): Agent =>
  agent.on('free', (socket: Socket) => {
    const idle = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
    if (idle > maxIdleSockets) socket.destroy();
  });

const transports = {
  'http:': { request: httpRequest, agent: boundIdleSockets(new HttpAgent(agentOptions)) },
  'https:': { request: httpsRequest, agent: boundIdleSockets(new HttpsAgent(agentOptions)) },
};

/** Maximum bytes of a response body. */
const maxBodyBytes = 1_048_576;
/** Maximum bytes of chunk framing and trailers, because a chunk of one byte costs six bytes and a call of the parser. */
const maxFramingBytes = 131_072;
/** The same for the start of a response. */
const maxStartFraming = 8192;
/** Maximum number of header lines that are read of a head; others are ignored. */
const maxHeaders = 100;
/** Maximum number of informational responses (RFC 9110 section 15.2) before the response. */
const maxInformational = 3;

const readAnswer = async (answer: IncomingMessage): Promise<Buffer> => {
  const pieces = createPieceCollector();
  const bytesBefore = answer.socket.bytesRead;
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    const framing = answer.socket.bytesRead - bytesBefore - length - answer.readableLength;
    if (length > maxBodyBytes || framing > maxFramingBytes) throw new AnswerTooLarge();
    pieces.add(chunk);
  }
  return pieces.join();
};

/** Creates a reader of the start of a response. Call it when the head has arrived, to count the bytes after it. */
const createStartReader = (answer: IncomingMessage) => {
  // Kept here, because the response loses its socket when it ends.
  const { socket } = answer;
  const bytesBefore = socket.bytesRead;
  let length = 0;
  const framing = () => socket.bytesRead - bytesBefore - length - answer.readableLength;
  const readStart = async (bytes: number): Promise<Buffer> => {
    const pieces = createPieceCollector();
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      pieces.add(chunk);
      length += chunk.length;
      if (length >= bytes) break;
      if (framing() > maxStartFraming) throw new AnswerTooLarge();
    }
    return pieces.join().subarray(0, bytes);
  };
  return { framing, readStart };
};

interface OutboundRequest {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
  addresses: Addresses;
  /** Aborts the request and the reading of its response. */
  signal: AbortSignal;
  /** Called if a head takes much longer to parse than others: it has 100 lines, or more than three informational responses precede it. */
  onCostlyHead?: () => void;
}

export interface OutboundAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Reads the body. Throws AnswerTooLarge beyond 1 MiB. Call this, `readStart` or `discard`, so that the connection can be reused. */
  read(): Promise<Buffer>;
  /** Reads at most `bytes`; closes the connection if there are more. Throws AnswerTooLarge if they come in thousands of pieces. */
  readStart(bytes: number): Promise<Buffer>;
  /** Number of bytes of chunk framing that `readStart` has read. */
  framing(): number;
  discard(): void;
}

/**
 * Sends a request over a keep-alive connection. Does not follow redirects, because they could lead to any address. Throws
 * PrivateAddress, or the error of the connection.
 */
export const sendRequest = async (
  url: URL,
  { addresses, body, onCostlyHead, ...request }: OutboundRequest,
): Promise<OutboundAnswer> => {
  const isPublicOnly = addresses === 'public';
  // An IP address in the URL is checked here, because it is not looked up.
  if (isPublicOnly && !isPublicAddress(url.hostname.replace(/^\[|\]$/g, ''), true))
    throw new PrivateAddress();
  const { request: send, agent } = transports[url.protocol === 'https:' ? 'https:' : 'http:'];
  const options = { ...request, agent, ...(isPublicOnly ? { lookup: publicLookup } : {}) };
  const checkHead = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void => {
    if (rawHeaders.length >= 2 * maxHeaders) onCostlyHead?.();
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    let informational = 0;
    const clientRequest = send(url, options, resolve).on('error', reject).on('response', checkHead);
    clientRequest.maxHeadersCount = maxHeaders;
    // After a 101 this is the only event, even if the signal aborts. After a response it has no effect.
    clientRequest.on('close', () => reject(new NoAnswer()));
    clientRequest.on('information', (head) => {
      checkHead(head);
      if (++informational <= maxInformational) return;
      onCostlyHead?.();
      reject(new AnswerTooLarge());
      clientRequest.destroy();
    });
    clientRequest.end(body);
  });
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    read: () => readAnswer(answer),
    ...createStartReader(answer),
    // Errors are ignored: nobody needs the content, and a failure closes the connection.
    discard: () => void readAnswer(answer).catch(() => undefined),
  };
};
