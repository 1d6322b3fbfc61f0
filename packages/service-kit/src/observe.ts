import type { Request, RequestHandler, Response } from 'express';
import { requestIdOf, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';

const pathOf = (target: string): string => {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
};

/**
 * Counts every request, and writes one line of it: id, method, route template, status, time in ms.
 * Neither headers nor query strings nor, where a path may hold a secret (`showPath` false), the path
 * itself are logged.
 */
export const observe = (log: Log, { record }: Metrics, showPath: boolean): RequestHandler => {
  const tell = (req: Request, res: Response, ms: number): void => {
    const { method } = req;
    const { statusCode: status } = res;
    const route = res.locals['route'] as string | undefined;
    record(method, route ?? 'none', status, ms);
    const path = showPath ? pathOf(req.originalUrl) : undefined;
    const requestId = requestIdOf(req);
    const line = { requestId, method, route, path, status, ms: Math.round(ms) };
    if (status >= 500) log.error(line, 'failed');
    else log.info(line, res.writableFinished ? 'answered' : 'client went away');
  };
  return (req, res, next) => {
    const start = performance.now();
    res.on('close', () => tell(req, res, performance.now() - start));
    next();
  };
};
