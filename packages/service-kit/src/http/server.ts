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

const slowBodySockets = new WeakSet<Socket>();

/**
 * Exempts this request from the deadline, and its body from the usual limit of 30 seconds. The connection is closed when no
 * piece of the body arrives for `idleMs`; without it, the caller must bound that time.
 */
export const allowSlowBody = (req: IncomingMessage, idleMs = 0): void => {
  const { socket } = req;
  withoutDeadline(req);
  if (req.readableEnded) return;
  slowBodySockets.add(socket);
  req.once('close', () => slowBodySockets.delete(socket));
  if (idleMs === 0) return;
  // Node.js destroys a socket at its timeout if there is no listener.
  socket.setTimeout(idleMs);
  req.once('end', () => socket.setTimeout(0));
};

/** Minimum bytes of a large body in each period. The gateway waits as long between two pieces. */
const minimumRate = { periodMs: 15_000, bytes: 65_536 };

/**
 * Gives a body as much time as it needs while it arrives at the minimum rate; slower bodies get 408. The deadline of the
 * request starts at the end of the body.
 */
export const allowLargeBody = (req: IncomingMessage, { periodMs, bytes } = minimumRate): void => {
  if (req.readableEnded) return;
  allowSlowBody(req);
  const { socket } = req;
  let bytesBefore = socket.bytesRead;
  const timer = setInterval(() => {
    if (socket.bytesRead - bytesBefore < bytes) answerUnread(socket, responseOn(socket), tooSlow());
    bytesBefore = socket.bytesRead;
  }, periodMs);
  req.once('end', () => startDeadline(req));
  for (const event of ['end', 'close']) req.once(event, () => clearInterval(timer));
};

const tooSlow = (): Problem =>
  new Problem({ status: 408, code: 'request_timeout', detail: 'The request did not arrive in time.' });

/** The problem for a request that the parser of Node.js rejected. */
const parserProblem = ({ code, rawPacket }: ParserError): Problem => {
  if (code === 'HPE_HEADER_OVERFLOW') {
    // If the overflowing bytes contain no line end, the request line itself was too long.
    return rawPacket?.includes('\n') === false
      ? new Problem({ status: 414, code: 'uri_too_long', detail: 'The request target is too long.' })
      : new Problem({ status: 431, code: 'headers_too_large', detail: 'The header fields are too large.' });
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow();
  return new BadRequest('bad_request', 'The request is not valid HTTP.');
};

/** Answers a request whose body has not arrived completely, unless it was already answered, and closes the connection. */
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
  const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  if (isTimeout && slowBodySockets.has(socket)) return;
  const problem = parserProblem(error);
  // If a request is being answered, the error concerns its body or the next request. Once a part of a response was sent, a
  // second status line would be read as its body.
  const res = responseOn(socket);
  if (res !== undefined && isTimeout) {
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
  'The request arrived too slowly while the server is overloaded or stops; send it again.',
);

interface ServerLimits extends Omit<ConnectionLimits, 'end'> {
  /** Called for each request that was ended because connections or memory ran short, or because the server stops. */
  onEnded(): void;
}

/**
 * Creates an HTTP server that answers all errors with problem+json, including those of the parser. With `limits`, its
 * connections and the memory of unread responses are shared fairly among the networks of clients (`boundConnections`).
 */
export const createHttpServer = (listener: RequestListener, limits?: ServerLimits): Server => {
  const server = createServer({
    requireHostHeader: false,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 1000,
    // Longer than the gateway keeps idle connections, so that it never writes to a connection that was just closed.
    keepAliveTimeout: 75_000,
    // A request without a body emits neither 'end' nor 'close'.
    optimizeEmptyRequests: true,
  });
  const end: ConnectionLimits['end'] = (socket, res) => {
    limits?.onEnded();
    answerUnread(socket, res, tooManyUnread);
  };
  const handle = limits ? boundConnections(server, listener, { ...limits, end }) : listener;
  server.on('request', handle);
  server.on('clientError', answerParserError);
  // The listener answers an unknown Expect with a problem; Node.js would send an empty 417.
  server.on('checkExpectation', handle);
  return server;
};
