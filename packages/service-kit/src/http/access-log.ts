import type { IncomingMessage, ServerResponse } from 'node:http';
import { pinoHttp, type HttpLogger } from 'pino-http';
import type { BaseContext } from '../process/context.ts';
import { requestIdOf, writeLine, type Log } from '../process/log.ts';
import { networkOf } from './network.ts';
import { isOverload } from './problem.ts';

/** The status to log. 499, as in nginx: the client closed the connection before the response. */
const statusOf = ({ headersSent, statusCode }: ServerResponse): number => (headersSent ? statusCode : 499);

type Context = Pick<BaseContext, 'log' | 'metrics' | 'requestLog' | 'changed' | 'clientAddress' | 'refusals'>;

/** Why a request was refused, as one of few possible texts; undefined if it was not refused. */
const refusalReason = (res: ServerResponse): string | undefined => {
  const [status, { problemCode, template = 'no route' }] = [statusOf(res), res];
  if (status < 400 || (status >= 500 && !isOverload(problemCode))) return undefined;
  return [status, ...(problemCode === undefined ? [] : [problemCode]), template].join(' ');
};

/** Path segments of this length are masked: longer than a UUID, so perhaps a token. The gateway's log masks the same. */
const maskedLength = 37;

/** The path of a request target, without its query. */
export const pathOf = (target: string): string => {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
};

const loggedPath = (target: string): string =>
  pathOf(target)
    .split('/')
    .map((segment) => (segment.length < maskedLength ? segment : '***'))
    .join('/');

/**
 * The log line of a finished request: method, route, status, problem code, path (if `logPaths`) and duration in ms. Headers,
 * query strings and long path segments are never logged.
 */
const createAccessLine = ({ requestLog, clientAddress, refusals }: Context, logPaths: boolean) => {
  const successLevel = requestLog === 'all' ? 'info' : 'silent';
  return {
    fieldsOf: (req: IncomingMessage, res: ServerResponse, ms: number): object => ({
      method: req.method,
      route: res.template,
      status: statusOf(res),
      code: res.problemCode,
      path: logPaths ? loggedPath(req.url ?? '') : undefined,
      ms,
    }),
    /** Call it once per request, because it counts refusals: repeated ones are silent. */
    levelOf: (req: IncomingMessage, res: ServerResponse): 'error' | 'info' | 'silent' => {
      const { statusCode, writableFinished, logSuccess, problemCode } = res;
      if (statusCode >= 500 && !isOverload(problemCode)) return 'error';
      const reason = refusalReason(res);
      if (reason !== undefined)
        return refusals.sample(reason, networkOf(clientAddress(req))) ? 'info' : 'silent';
      if (!writableFinished) return 'info';
      return logSuccess === false ? 'silent' : successLevel;
    },
    messageOf: ({ statusCode, writableFinished, problemCode }: ServerResponse): string => {
      if (isOverload(problemCode)) return 'refused';
      if (statusCode >= 500) return 'failed';
      return writableFinished ? 'answered' : 'client went away';
    },
  };
};

/** Writes the line with pino-http, for requests that Express handles. */
const createExpressLog = (
  log: Log,
  { fieldsOf, levelOf, messageOf }: ReturnType<typeof createAccessLine>,
): HttpLogger =>
  pinoHttp({
    logger: log,
    genReqId: requestIdOf,
    // Only the id: pino-http would otherwise serialise the whole request.
    customAttributeKeys: { req: 'requestId', responseTime: 'ms' },
    serializers: { requestId: requestIdOf },
    wrapSerializers: false,
    customLogLevel: levelOf,
    customSuccessObject: (req, res, { ms }: { ms: number }) => fieldsOf(req, res, ms),
    customSuccessMessage: (_req, res) => messageOf(res),
    customErrorObject: (req, res, _error, { ms }: { ms: number }) => fieldsOf(req, res, ms),
    customErrorMessage: (_req, res) => messageOf(res),
  });

/** pino-http sets `log` on each response whose line it writes. */
const isLoggedByExpress = ({ log }: ServerResponse): boolean => log !== undefined;

/** Logs each finished request and counts it in the metrics. */
export const createAccessLog = (context: Context, logPaths: boolean) => {
  const { log, metrics } = context;
  const line = createAccessLine(context, logPaths);
  const logError = function (this: ServerResponse, err: Error): void {
    if (isLoggedByExpress(this)) return;
    log.error({ requestId: requestIdOf(this.req), err }, 'response_failed');
  };
  const writeFastLine = (req: IncomingMessage, res: ServerResponse, ms: number): void => {
    const level = line.levelOf(req, res);
    if (level === 'silent') return;
    const fields = line.fieldsOf(req, res, Math.round(ms));
    writeLine(log, level, { requestId: requestIdOf(req), ...fields }, line.messageOf(res));
  };
  return {
    /** Express middleware: pino-http logs the requests that Express handles. */
    express: createExpressLog(log, line),
    /** Starts the timer. Other requests are logged without pino-http, which costs several times as much. */
    start: (req: IncomingMessage, res: ServerResponse): void => {
      const start = performance.now();
      res.on('error', logError);
      res.on('close', () => {
        const ms = performance.now() - start;
        metrics.record(req.method ?? '', res.template, statusOf(res), ms);
        if (req.method !== 'GET' && res.statusCode < 400) context.changed?.();
        if (!isLoggedByExpress(res)) writeFastLine(req, res, ms);
      });
    },
  };
};
