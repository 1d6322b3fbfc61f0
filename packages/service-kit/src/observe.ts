import type { Request, Response } from 'express';
import { createAccess } from './access.ts';
import { requestIdOf, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';

const pathOf = (target: string): string => {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
};

/** Counts every request and writes its line when it is over, `showPath` with its path. */
export const observe = (log: Log, metrics: Metrics, showPath: boolean) => {
  const end = createAccess(log, metrics);
  return (req: Request, res: Response): void => {
    const start = performance.now();
    res.on('close', () =>
      end({
        requestId: requestIdOf(req),
        method: req.method,
        route: res.locals['route'] as string | undefined,
        status: res.statusCode,
        ms: performance.now() - start,
        path: showPath ? pathOf(req.originalUrl) : undefined,
        answered: res.writableFinished,
      }),
    );
  };
};
