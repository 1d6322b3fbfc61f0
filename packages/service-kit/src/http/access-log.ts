import type {} from './message-fields.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BaseContext } from '../process/context.ts';
import { requestIdOf, writeLine } from '../process/log.ts';
import { networkOf } from './network.ts';
import { pathOf } from './request-checks.ts';
import { isOverload } from './problem.ts';

/** 499: the client went away before there was an answer (as nginx counts it). */
const statusOf = ({ headersSent, statusCode }: ServerResponse): number => (headersSent ? statusCode : 499);

type Context = Pick<BaseContext, 'log' | 'metrics' | 'requestLog' | 'changed' | 'clientAddress' | 'refusals'>;

/** Why a request was refused, as one of few texts; undefined when it was not. */
const refusalOf = (res: ServerResponse): string | undefined => {
  const [status, { problemCode, template = 'no route' }] = [statusOf(res), res];
  if (status < 400 || (status >= 500 && !isOverload(problemCode))) return undefined;
  return [status, ...(problemCode === undefined ? [] : [problemCode]), template].join(' ');
};

/** Segments longer than a UUID: perhaps a token that was sent to a wrong address. The gateway's log has the same bound. */
const long = /[^/]{37,}/g;

const messageOf = ({ statusCode, writableFinished, problemCode }: ServerResponse): string => {
  if (isOverload(problemCode)) return 'refused';
  if (statusCode >= 500) return 'failed';
  return writableFinished ? 'answered' : 'client went away';
};

/**
 * Makes the function that starts the timer of a request. When the request is over, it is counted in the metrics and has a
 * line: method, route, status, code of the problem, path (where `logPaths`) and time in ms. Neither headers nor query strings
 * are logged, nor long segments of a path.
 */
export const createAccessLog = (context: Context, logPaths: boolean) => {
  const { log, metrics, requestLog, clientAddress, refusals } = context;
  const successLevel = requestLog === 'all' ? 'info' : 'silent';
  /** Call it once for each request: refusals that repeat themselves are silent. */
  const levelOf = (req: IncomingMessage, res: ServerResponse): 'error' | 'info' | 'silent' => {
    const { statusCode, writableFinished, logSuccess, problemCode } = res;
    if (statusCode >= 500 && !isOverload(problemCode)) return 'error';
    const reason = refusalOf(res);
    if (reason !== undefined)
      return refusals.sample(reason, networkOf(clientAddress(req))) ? 'info' : 'silent';
    if (!writableFinished) return 'info';
    return logSuccess === false ? 'silent' : successLevel;
  };
  const logRequest = (req: IncomingMessage, res: ServerResponse, ms: number): void => {
    const level = levelOf(req, res);
    if (level === 'silent') return;
    const fields = {
      requestId: requestIdOf(req),
      method: req.method,
      route: res.template,
      status: statusOf(res),
      code: res.problemCode,
      path: logPaths ? pathOf(req.url ?? '').replaceAll(long, '***') : undefined,
      ms: Math.round(ms),
    };
    writeLine(log, level, fields, messageOf(res));
  };
  const logError = function (this: ServerResponse, err: Error): void {
    log.error({ requestId: requestIdOf(this.req), err }, 'response_failed');
  };
  return (req: IncomingMessage, res: ServerResponse): void => {
    const start = performance.now();
    res.on('error', logError);
    res.on('close', () => {
      const ms = performance.now() - start;
      metrics.record(req.method ?? '', res.template, statusOf(res), ms);
      if (req.method !== 'GET' && res.statusCode < 400) context.changed?.();
      logRequest(req, res, ms);
    });
  };
};
