import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { SafeError } from '../process/safe-error.ts';
import { createPieceCollector } from './body.ts';
import { createPublicLookup, isPublicAddress, PrivateAddress, type Addresses } from './outbound-addresses.ts';
import { AnswerTooLarge, transports } from './outbound-agents.ts';

export {
  createPublicLookup,
  isPublicAddress,
  PrivateAddress,
  webAddress,
  type Addresses,
} from './outbound-addresses.ts';
export { AnswerTooLarge } from './outbound-agents.ts';

/** The server switched to another protocol (101), or closed the connection without a response and without an error. */
class NoAnswer extends SafeError {
  constructor() {
    super('The server gave no answer.');
  }
}

const publicLookup = createPublicLookup();

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

/** An answer with more bytes of chunk framing than this, or than a sixteenth of its content, is costly to parse. */
const maxCheapFraming = 512;

/** Creates the reader of a response. Call it when the head has arrived, to count the bytes after it. */
const createReader = (answer: IncomingMessage) => {
  // Kept here, because the response loses its socket when it ends.
  const { socket } = answer;
  const bytesBefore = socket.bytesRead;
  let length = 0;
  const framing = () => socket.bytesRead - bytesBefore - length - answer.readableLength;
  /** Reads until there are at least `bytes`. */
  const readUntil = async (bytes: number, maxFraming: number): Promise<Buffer> => {
    const pieces = createPieceCollector();
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      pieces.add(chunk);
      length += chunk.length;
      if (length >= bytes) break;
      if (framing() > maxFraming) throw new AnswerTooLarge();
    }
    return pieces.join();
  };
  return {
    read: async (): Promise<Buffer> => {
      const body = await readUntil(maxBodyBytes + 1, maxFramingBytes);
      if (body.length > maxBodyBytes) throw new AnswerTooLarge();
      return body;
    },
    readStart: async (bytes: number): Promise<Buffer> =>
      (await readUntil(bytes, maxStartFraming)).subarray(0, bytes),
    isCostly: () => framing() > maxCheapFraming + length / 16,
  };
};

interface OutboundRequest {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
  addresses: Addresses;
  /** Aborts the request and the reading of its response. */
  signal: AbortSignal;
  /** Who chose the address. Concurrent TLS handshakes with addresses of one subject are limited. */
  subject?: string;
  /**
   * Called if a handshake or a head may take much longer to process than others: the handshake fails, the head has 100 lines, or
   * more than three informational responses precede it.
   */
  onCostly?: () => void;
}

export interface OutboundAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Reads the body. Throws AnswerTooLarge beyond 1 MiB. Call this or `readStart`, so that the connection can be reused. */
  read(): Promise<Buffer>;
  /** Reads at most `bytes`; closes the connection if there are more. Throws AnswerTooLarge if they come in thousands of pieces. */
  readStart(bytes: number): Promise<Buffer>;
  /** Whether what was read took much longer to parse than others, for example because it has thousands of chunks. */
  isCostly(): boolean;
}

/**
 * Sends a request over a keep-alive connection. Does not follow redirects, because they could lead to any address. Throws
 * PrivateAddress, or the error of the connection.
 */
export const sendRequest = async (
  url: URL,
  { addresses, body, ...request }: OutboundRequest,
): Promise<OutboundAnswer> => {
  const isPublicOnly = addresses === 'public';
  // An IP address in the URL is checked here, because it is not looked up.
  if (isPublicOnly && !isPublicAddress(url.hostname.replace(/^\[|\]$/g, ''), true))
    throw new PrivateAddress();
  const { request: send, agent } = transports[url.protocol === 'https:' ? 'https:' : 'http:'];
  const options = { ...request, agent, ...(isPublicOnly ? { lookup: publicLookup } : {}) };
  const checkHead = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void => {
    if (rawHeaders.length >= 2 * maxHeaders) request.onCostly?.();
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
      request.onCostly?.();
      reject(new AnswerTooLarge());
      clientRequest.destroy();
    });
    clientRequest.end(body);
  });
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    ...createReader(answer),
  };
};
