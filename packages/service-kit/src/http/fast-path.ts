import type { RequestListener } from 'node:http';
import type { Request, Response } from 'express';
import type { Fail } from './error-handler.ts';
import type { Meet } from './request-context.ts';
import type { Route } from './route.ts';
import { runRoute } from './pipeline.ts';

/** What has an escape, or anything else that wants thought, is left to Express. */
const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/?#%]+)')}(?:\\?|$)`);

interface Options {
  basePath: string;
  meet: Meet;
  fail: Fail;
  /** Express: takes what is not a direct route's. */
  next: RequestListener;
}

/**
 * Looks for direct routes before Express is entered (docs/adr/0009). Everything that a route does is
 * done all the same; HEAD, OPTIONS and refusals of other methods are `next`'s.
 */
export const directRoutes = (
  routes: readonly Route[],
  { basePath, meet, fail, next }: Options,
): RequestListener => {
  const ways = routes.map((route) => {
    const template = basePath + route.path;
    return {
      method: route.method.toUpperCase(),
      pattern: patternOf(template),
      run: runRoute(route, template, undefined),
    };
  });
  const answer = async (
    req: Request,
    res: Response,
    { run }: (typeof ways)[number],
    { groups = {} }: RegExpExecArray,
  ): Promise<void> => {
    try {
      meet(req, res);
      req.params = groups;
      await run(req, res);
    } catch (error) {
      fail(error, req, res);
    }
  };
  if (ways.length === 0) return next;
  return (req, res) => {
    for (const way of ways) {
      const found = req.method === way.method ? way.pattern.exec(req.url ?? '') : null;
      if (found === null) continue;
      // The handler of a direct route is typed to see no more than Node's own request.
      void answer(req as Request, res as Response, way, found);
      return;
    }
    next(req, res);
  };
};
