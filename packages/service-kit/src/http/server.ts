import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { requestIdOf } from '../process/log.ts';
import { startDeadline, withoutDeadline } from '../overload/request-scope.ts';
import { boundConnections, responseOn, type ConnectionLimits } from '../overload/connections.ts';
import { headersOf } from './respond.ts';
import { BadRequest, Problem, problemResponse, TooBusy } from './problem.ts';

interface ParserError extends Error {
  code?: string;
  rawPacket?: Buffer;
}

const withSlowBody = new WeakSet<Socket>();

/**
 * Exempts this request from the deadline and its body from the limit of 30 seconds that other requests have.
 *
 * `idleMs` bounds the time between two pieces of the body: after it the connection is closed. Without it the caller
 * has to bound that time.
 */
export const allowSlowBody = (req: IncomingMessage, idleMs = 0): void => {
  const { socket } = req;
  withoutDeadline(req);
  if (req.readableEnded) return;
  withSlowBody.add(socket);
  req.once('close', () => withSlowBody.delete(socket));
  if (idleMs === 0) return;
  // Node.js destroys a socket with a timeout for which there is no listener.
  socket.setTimeout(idleMs);
  req.once('end', () => socket.setTimeout(0));
};

/** What has to arrive of a large body in each period; the gateway waits as long between two pieces. */
const largeBodyPace = { periodMs: 15_000, bytes: 65_536 };

/**
 * Gives a body the time that it needs, as long as it keeps arriving; one that arrives too slowly gets 408. The deadline of
 * the request begins when its body has ended.
 */
export const allowLargeBody = (req: IncomingMessage, { periodMs, bytes } = largeBodyPace): void => {
  if (req.readableEnded) return;
  allowSlowBody(req);
  const { socket } = req;
  let arrived = socket.bytesRead;
  const timer = setInterval(() => {
    if (socket.bytesRead - arrived < bytes) answerUnread(socket, responseOn(socket), tooSlow());
    arrived = socket.bytesRead;
  }, periodMs);
  req.once('end', () => startDeadline(req));
  for (const event of ['end', 'close']) req.once(event, () => clearInterval(timer));
};

const tooSlow = (): Problem =>
  new Problem({ status: 408, code: 'request_timeout', detail: 'The request did not arrive in time.' });

/** The problem for a request that Node's parser has rejected. */
const parserProblem = ({ code, rawPacket }: ParserError): Problem => {
  if (code === 'HPE_HEADER_OVERFLOW') {
    // Without a line end in the bytes that overflowed, the request line itself was too long.
    return rawPacket?.includes('\n') === false
      ? new Problem({ status: 414, code: 'uri_too_long', detail: 'The request target is too long.' })
      : new Problem({ status: 431, code: 'headers_too_large', detail: 'The header fields are too large.' });
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow();
  return new BadRequest('bad_request', 'The request is not valid HTTP.');
};

/**
 * Answers a request whose body has not arrived, where nothing was answered yet, and closes the connection without waiting
 * for the rest.
 */
const answerUnread = (socket: Socket, res: ServerResponse | undefined, problem: Problem): void => {
  if (res === undefined || res.headersSent || res.req.complete) {
    socket.destroy();
    return;
  }
  res.problemCode = problem.code;
  const { headers, body } = problemResponse(problem, requestIdOf(res.req));
  res.writeHead(problem.status, headersOf(res.req, res, { ...headers, Connection: 'close' })).end(body);
};

const answerParserError = (error: ParserError, socket: Socket): void => {
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  if (isLate && withSlowBody.has(socket)) return;
  const problem = parserProblem(error);
  // While a request is being answered, the error concerns its body or the request behind it. With bytes of an answer on the
  // wire, another status line would be read as its body.
  const res = responseOn(socket);
  if (res !== undefined && isLate) {
    answerUnread(socket, res, problem);
    return;
  }
  if (!socket.writable || res !== undefined || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const { headers, body } = problemResponse(problem, requestId);
  const fields = { ...headers, 'X-Request-Id': requestId, Connection: 'close' };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  const start = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`;
  socket.end(`${[start, ...head].join('\r\n')}\r\n\r\n${body}`);
};

const tooManyUnread = new TooBusy(
  'The request arrives too slowly for a server that is busy or stops; send it again.',
);

interface ServerLimits extends Omit<ConnectionLimits, 'end'> {
  /** Called for each request that was ended because connections or memory ran short, or the server stops. */
  onEnded(): void;
}

/**
 * An HTTP server whose every refusal, the parser's included, is problem+json. With `limits` its connections and the memory
 * of its answers are shared among the networks of its clients (`boundConnections`).
 */
export const createHttpServer = (listener: RequestListener, limits?: ServerLimits): Server => {
  const server = createServer({
    requireHostHeader: false,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 1000,
    // Longer than the gateway keeps a connection, so that it never writes into one that just closed.
    keepAliveTimeout: 75_000,
    // A request without a body has ended when it arrives: no 'end' or 'close' comes of it any more.
    optimizeEmptyRequests: true,
  });
  const end: ConnectionLimits['end'] = (socket, res) => {
    limits?.onEnded();
    answerUnread(socket, res, tooManyUnread);
  };
  const handle = limits ? boundConnections(server, listener, { ...limits, end }) : listener;
  server.on('request', handle);
  server.on('clientError', answerParserError);
  // An unknown Expect is refused by the request context, not by Node's empty 417.
  server.on('checkExpectation', handle);
  return server;
};
